// Picking by index. Written for axis 1 of three; other axes alike. Every index is checked before anything is
// written.
//
//   op            y                                           gradient
//   gather        y[i][j][k] = x[i][index[i][j][k]][k]        dx = 0, dx[i][index[i][j][k]][k] += dy[i][j][k]
//   scatter_add   y = x, y[i][index[i][j][k]][k] += s[i][j][k]   dx = dy, ds = gather(dy, index)
//   index_select  y[i][j][k] = x[i][index[j]][k]              dx = 0, dx[i][index[j]][k] += dy[i][j][k]
//   embedding     y[..., c] = weight[ids[...], c]             dweight = 0, dweight[id, c] += dy[..., c]
//
// Saved: the index alone. Where an index repeats, sums are made in the order of j: the work is cut across the
// other axes (for an embedding: across columns), never along the indexed one, so any number of threads gives
// the same bits.

#include <algorithm>

#include "gradus/core/array/detail/dispatch.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// Throws unless every index lies in 0 .. size(axis) - 1 of `shape`.
void check_range(const char* op, const Array& index, const Shape& shape, int axis) {
  const Array dense = index.contiguous();
  const I* const values = dense.data<I>();
  const I* const end = values + dense.numel();
  const I size = shape[axis];
  const I* const bad = std::find_if(values, end, [size](I i) { return i < 0 || i >= size; });
  if (bad == end) return;
  Dims place = Dims::filled(index.dim(), 0);
  I rest = bad - values;
  for (int i = index.dim() - 1; i >= 0; rest /= index.shape()[i--]) place[i] = rest % index.shape()[i];
  const std::string expected = size > 0 ? fmt::format("0 to {}", size - 1) : "no index";
  fail_with("{}: index {} at {} is out of range for axis {} of {}: expects {}", op, *bad, place, axis, shape,
            expected);
}

Shape without(Shape dims, int axis) {
  dims.erase(axis);
  return dims;
}

// A line is what remains of an array when all axes but one are fixed. Both loops below walk the lines of
// several arrays together and call f(n, offsets): n lines side by side, the first of each array at its
// offset.
template <int N>
StridedLoop<N> lines(const Shape& shape, const std::array<Strides, N>& strides, int axis) {
  std::array<Strides, N> across;
  for (int k = 0; k < N; ++k)
    across[static_cast<std::size_t>(k)] = without(strides[static_cast<std::size_t>(k)], axis);
  return StridedLoop<N>(without(shape, axis), across);
}

/// How many of them make a chunk of work.
I lines_of(I length) { return std::max<I>(1, kGrain / std::max<I>(1, length)); }

Array gathered(const Array& x, int axis, const Array& index) {
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

/// y[.., index[.., j, ..], ..] += source[.., j, ..], in the order of j.
void add_scattered(const Array& y, int axis, const Array& index, const Array& source) {
  dispatch_numbers("scatter_add", y, [&]<class T>() {
    const auto loop = lines<3>(index.shape(), {y.strides(), index.strides(), source.strides()}, axis);
    const I length = index.shape()[axis];
    const I along_y = y.strides()[axis], along_index = index.strides()[axis],
            along_s = source.strides()[axis];
    const I sy = loop.inner_stride(0), si = loop.inner_stride(1), ss = loop.inner_stride(2);
    T* const to = y.mutable_data<T>();
    const T* const from = source.data<T>();
    const I* const at = index.data<I>();
    const auto add_lines = [=](I n, const auto& start) {
      for (I j = 0; j < length; ++j)
        for (I i = 0; i < n; ++i)
          to[start[0] + at[start[1] + j * along_index + i * si] * along_y + i * sy] +=
              from[start[2] + j * along_s + i * ss];
    };
    loop.parallel(lines_of(length), add_lines, wake_for(length));
  });
}

/// y[.., j, ..] = x[.., index[j], ..] for a 1-d index.
Array selected(const Array& x, int axis, const Array& index) {
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

/// dx[.., index[j], ..] += dy[.., j, ..] in the order of j.
void add_rows(const Array& dx, int axis, const Array& index, const Array& dy) {
  dispatch_floating("index_select backward", dy, [&]<class T>() {
    const auto loop = lines<2>(dy.shape(), {dx.strides(), dy.strides()}, axis);
    const I length = index.numel(), step = index.strides()[0];
    const I along_x = dx.strides()[axis], along_y = dy.strides()[axis];
    const I sx = loop.inner_stride(0), sy = loop.inner_stride(1);
    T* const to = dx.mutable_data<T>();
    const T* const from = dy.data<T>();
    const I* const at = index.data<I>();
    // Columns are independent: cut across them, in whole cache lines.
    const I columns = lines_of(length) / 16 * 16 + 16;
    const auto add_columns = [=](I n, const auto& start) {
      for (I j = 0; j < length; ++j) {
        T* const xx = to + start[0] + at[j * step] * along_x;
        const T* const yy = from + start[1] + j * along_y;
        if (sx == 1 && sy == 1)
          for (I i = 0; i < n; ++i) xx[i] += yy[i];
        else
          for (I i = 0; i < n; ++i) xx[i * sx] += yy[i * sy];
      }
    };
    loop.parallel(columns, add_columns, wake_for(columns * length));
  });
}

/// The gradient of a table [.., V, ..] of which the rows `index` were taken.
Gradient into_rows(const Shape& shape, int axis, const Saved& index, const Array& dy) {
  return {shape, dy.dtype(), [=, at = *index](const Array& dx, bool add) {
            if (!add) dx.fill_(0);
            add_rows(dx, axis, at, dy);
          }};
}

/// For a profile: of x only what is picked is read.
Array picked(Array y) {
  count_bytes(2.0 * static_cast<double>(y.numel()) * static_cast<double>(size_of(y.dtype())));
  return y;
}

/// gather and scatter_add: index has x's sizes, or less on axes other than `axis`.
void check_index_fits(const char* op, const Array& x, int axis, const Array& index) {
  check(index.dim() == x.dim(), "{}: x {} and index {} must have the same number of axes", op, x.shape(),
        index.shape());
  for (int i = 0; i < x.dim(); ++i)
    check(i == axis || index.shape()[i] <= x.shape()[i],
          "{}: index {} does not fit into x {}: axis {} is longer than x's", op, index.shape(), x.shape(), i);
  check_range(op, index, x.shape(), axis);
}

}  // namespace

Tensor gather(const Tensor& x, Int axis, const Tensor& index) {
  const Array &a = operand("gather", x), &i = index_operand("gather", index);
  const int at = normalize_axis("gather", axis, x.dim());
  check_index_fits("gather", a, at, i);
  return record("gather", picked(gathered(a, at, i)), {&x},
                [shape = x.shape(), at, saved = Saved(i)](const Array& dy, Needs) -> Grads {
                  return {Gradient(shape, dy.dtype(), [at, index = *saved, dy](const Array& dx, bool add) {
                    if (!add) dx.fill_(0);
                    add_scattered(dx, at, index, dy);
                  })};
                });
}

Tensor scatter_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source) {
  const Array &a = operand("scatter_add", x), &s = operand("scatter_add", source);
  const Array& i = index_operand("scatter_add", index);
  const int at = normalize_axis("scatter_add", axis, x.dim());
  check_same_dtype("scatter_add", a, s, "x and source");
  check(i.shape() == s.shape(), "scatter_add: index {} and source {} must have the same shape", i.shape(),
        s.shape());
  check_index_fits("scatter_add", a, at, i);
  const Array y = a.clone();
  add_scattered(y, at, i, s);
  return record("scatter_add", y, {&x, &source},
                [at, saved = Saved(i)](const Array& dy, Needs needs) -> Grads {
                  return {dy, needs[1] ? gathered(dy, at, *saved) : Array()};
                });
}

Tensor index_select(const Tensor& x, Int axis, const Tensor& index) {
  const Array &a = operand("index_select", x), &i = index_operand("index_select", index);
  const int at = normalize_axis("index_select", axis, x.dim());
  check(i.dim() == 1, "index_select: expects a 1-d index, got {}", i.shape());
  check_range("index_select", i, a.shape(), at);
  return record("index_select", picked(selected(a, at, i)), {&x},
                [shape = x.shape(), at, saved = Saved(i)](const Array& dy, Needs) -> Grads {
                  return {into_rows(shape, at, saved, dy)};
                });
}

Tensor embedding(const Tensor& ids, const Tensor& weight) {
  const Array &i = index_operand("embedding", ids), &w = operand("embedding", weight);
  check(i.dim() < Dims::kMaxRank,
        "embedding: ids {} have {} axes, and there is no room for more: flatten() them first", i.shape(),
        i.dim());
  check(w.dim() == 2, "embedding: expects a weight [V, C], got {}", w.shape());
  check_range("embedding", i, w.shape(), 0);
  Shape shape = i.shape();
  shape.push_back(w.shape()[1]);
  const Array flat = i.reshape({i.numel()});
  return record("embedding", picked(selected(w, 0, flat).reshape(shape)), {&weight},
                [rows = w.shape(), saved = Saved(flat)](const Array& dy, Needs) -> Grads {
                  return {into_rows(rows, 0, saved, dy.reshape({saved->numel(), rows[1]}))};
                });
}

}  // namespace gradus
