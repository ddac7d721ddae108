#pragma once
// Loops of the ops that read and write by index, and index checks. Repeated indices are combined in index
// order: the work is split across the other axes, never along the indexed one, so any number of threads gives
// the same bits.

#include <algorithm>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/tape/autograd.h"

namespace gradus {

/// How a write combines with the existing value: replaces it, or is added.
struct Set {
  template <class T>
  static void put(T& to, T from) {
    to = from;
  }
};
struct Add {
  template <class T>
  static void put(T& to, T from) {
    to += from;
  }
};

template <class Put, class F>
void dispatch_put(const char* op, const Array& y, F&& f) {
  if constexpr (std::is_same_v<Put, Set>)
    dispatch_all(y.dtype(), f);
  else
    dispatch_numbers(op, y, f);
}

/// Throws unless every index lies in 0 .. size(axis) - 1 of `shape`, or, where negative ones count from the
/// end, -size .. size - 1.
inline void check_range(const char* op, const Array& index, const Shape& shape, int axis,
                        bool from_end = false) {
  const Array dense = index.contiguous();
  const std::int64_t* const values = dense.data<std::int64_t>();
  const std::int64_t* const end = values + dense.numel();
  const std::int64_t size = shape[axis], least = from_end ? -size : 0;
  const std::int64_t* const bad =
      std::find_if(values, end, [=](std::int64_t i) { return i < least || i >= size; });
  if (bad == end) return;
  Dims place = Dims::filled(index.dim(), 0);
  std::int64_t rest = bad - values;
  for (int i = index.dim() - 1; i >= 0; rest /= index.shape()[i--]) place[i] = rest % index.shape()[i];
  const std::string expected = size > 0 ? fmt::format("{} to {}", least, size - 1) : "no index";
  fail_with("{}: index {} at {} is out of range for axis {} of {}: expects {}", op, *bad, place, axis, shape,
            expected);
}

/// gather and scatter: index has x's sizes, or less on axes other than `axis`.
inline void check_index_fits(const char* op, const Array& x, int axis, const Array& index) {
  check(index.dim() == x.dim(), "{}: x {} and index {} must have the same number of axes", op, x.shape(),
        index.shape());
  for (int i = 0; i < x.dim(); ++i)
    check(i == axis || index.shape()[i] <= x.shape()[i],
          "{}: index {} does not fit into x {}: axis {} is longer than x's", op, index.shape(), x.shape(), i);
  check_range(op, index, x.shape(), axis);
}

/// For a profile: only the picked elements of x are read.
inline Array picked(Array y) {
  count_bytes(2.0 * static_cast<double>(y.numel()) * static_cast<double>(size_of(y.dtype())));
  return y;
}

// A line is what remains of an array when all axes but one are fixed. The loops below walk the lines of
// several arrays together and call f(n, offsets): n lines side by side, the first of each array at its
// offset.
template <int N>
StridedLoop<N> lines(Shape shape, std::array<Strides, N> strides, int axis) {
  for (Strides& each : strides) each.erase(axis);
  shape.erase(axis);
  return StridedLoop<N>(shape, strides);
}

/// How many of them make a chunk of work.
inline std::int64_t lines_of(std::int64_t length) {
  return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, length));
}

/// y[i][j][k] = x[i][index[i][j][k]][k] for axis 1.
inline Array gathered(const Array& x, int axis, const Array& index) {
  using I = std::int64_t;
  const Array y = Array::empty(index.shape(), x.dtype());
  dispatch_all(x.dtype(), [&]<class T>() {
    const auto loop = lines<3>(index.shape(), {y.strides(), index.strides(), x.strides()}, axis);
    const I length = index.shape()[axis];
    const I along_y = y.strides()[axis], along_index = index.strides()[axis], along_x = x.strides()[axis];
    const I sy = loop.inner_stride(0), si = loop.inner_stride(1), sx = loop.inner_stride(2);
    T* const to = y.mutable_data<T>();
    const T* const from = x.data<T>();
    const I* const at = index.data<I>();
    const auto gather_lines = [=](I n, const auto& start) {
      for (I j = 0; j < length; ++j)
        for (I i = 0; i < n; ++i)
          to[start[0] + j * along_y + i * sy] =
              from[start[2] + at[start[1] + j * along_index + i * si] * along_x + i * sx];
    };
    loop.parallel(lines_of(length), gather_lines, wake_for(length));
  });
  return y;
}

/// source[.., j, ..] to y[.., index[.., j, ..], ..], in the order of j.
template <class Put>
void put_scattered(const char* op, const Array& y, int axis, const Array& index, const Array& source) {
  using I = std::int64_t;
  dispatch_put<Put>(op, y, [&]<class T>() {
    const auto loop = lines<3>(index.shape(), {y.strides(), index.strides(), source.strides()}, axis);
    const I length = index.shape()[axis];
    const I along_y = y.strides()[axis], along_index = index.strides()[axis],
            along_s = source.strides()[axis];
    const I sy = loop.inner_stride(0), si = loop.inner_stride(1), ss = loop.inner_stride(2);
    T* const to = y.mutable_data<T>();
    const T* const from = source.data<T>();
    const I* const at = index.data<I>();
    const auto put_lines = [=](I n, const auto& start) {
      for (I j = 0; j < length; ++j)
        for (I i = 0; i < n; ++i)
          Put::put(to[start[0] + at[start[1] + j * along_index + i * si] * along_y + i * sy],
                   from[start[2] + j * along_s + i * ss]);
    };
    loop.parallel(lines_of(length), put_lines, wake_for(length));
  });
}

/// y[.., j, ..] = x[.., index[j], ..] for a 1-d index.
inline Array selected(const Array& x, int axis, const Array& index) {
  using I = std::int64_t;
  Shape shape = x.shape();
  shape[axis] = index.numel();
  const Array y = Array::empty(shape, x.dtype());
  dispatch_all(x.dtype(), [&]<class T>() {
    const auto loop = lines<2>(shape, {y.strides(), x.strides()}, axis);
    const I along_y = y.strides()[axis], along_x = x.strides()[axis], step = index.strides()[0];
    const I sy = loop.inner_stride(0), sx = loop.inner_stride(1), n = loop.inner(), outer = loop.outer();
    T* const to = y.mutable_data<T>();
    const T* const from = x.data<T>();
    const I* const at = index.data<I>();
    // Rows are independent: cut along j.
    parallel_rows(index.numel(), n * outer, [=](I begin, I end) {
      for (I j = begin; j < end; ++j)
        for (I row = 0; row < outer; ++row) {
          const auto start = loop.offsets(row);
          T* const yy = to + start[0] + j * along_y;
          const T* const xx = from + start[1] + at[j * step] * along_x;
          if (sy == 1 && sx == 1)
            std::copy_n(xx, n, yy);
          else
            for (I i = 0; i < n; ++i) yy[i * sy] = xx[i * sx];
        }
    });
  });
  return y;
}

/// source[.., j, ..] to y[.., index[j], ..] for a 1-d index, in the order of j.
template <class Put>
void put_rows(const char* op, const Array& y, int axis, const Array& index, const Array& source) {
  using I = std::int64_t;
  dispatch_put<Put>(op, y, [&]<class T>() {
    const auto loop = lines<2>(source.shape(), {y.strides(), source.strides()}, axis);
    const I length = index.numel(), step = index.strides()[0];
    const I along_y = y.strides()[axis], along_s = source.strides()[axis];
    const I sy = loop.inner_stride(0), ss = loop.inner_stride(1);
    T* const to = y.mutable_data<T>();
    const T* const from = source.data<T>();
    const I* const at = index.data<I>();
    // Columns are independent: cut across them, in whole cache lines.
    const I columns = lines_of(length) / 16 * 16 + 16;
    const auto put_columns = [=](I n, const auto& start) {
      for (I j = 0; j < length; ++j) {
        T* const yy = to + start[0] + at[j * step] * along_y;
        const T* const xx = from + start[1] + j * along_s;
        if (sy == 1 && ss == 1)
          for (I i = 0; i < n; ++i) Put::put(yy[i], xx[i]);
        else
          for (I i = 0; i < n; ++i) Put::put(yy[i * sy], xx[i * ss]);
      }
    };
    loop.parallel(columns, put_columns, wake_for(columns * length));
  });
}

}  // namespace gradus
