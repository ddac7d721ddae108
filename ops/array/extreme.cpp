// Largest and smallest elements of arrays, and where they are; ops/reduce/extreme.cpp has the ops.
//
// A NaN counts as larger and smaller than every number: it shows instead of getting lost.
// kernels/body/reduce.h: max_run, min_run

#include <limits>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/elementwise_loops.h"
#include "gradus/ops/array/reduce_tree.h"

namespace gradus {

namespace {

using kernels::Binary;

// Short runs are looked at one by one, without jumps: which value is larger could not be guessed.

template <class T, Binary kind>
T short_extreme(std::int64_t n, const T* x) {
  T best = x[0];
  bool nan = best != best;
  for (std::int64_t i = 1; i < n; ++i) {
    const bool keep = kind == Binary::maximum ? best > x[i] : best < x[i];
    best = keep ? best : x[i];
    nan |= x[i] != x[i];
  }
  return nan ? std::numeric_limits<T>::quiet_NaN() : best;
}

template <class T, Binary kind>
std::int64_t find_short_extreme(std::int64_t n, const T* x) {
  std::int64_t found = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const T best = x[found];
    const bool beyond = kind == Binary::maximum ? x[i] > best : x[i] < best;
    const bool first_nan = (x[i] != x[i]) & (best == best);
    found += (i - found) * (beyond | first_nan);
  }
  return found;
}

template <class T, Binary kind>
struct ExtremeKernel {
  static T run(std::int64_t n, const T* x) {
    if constexpr (std::is_floating_point_v<T>)
      if (n >= kShortReduction)
        return kind == Binary::maximum ? kernels::table<T>().max(n, x) : kernels::table<T>().min(n, x);
    return short_extreme<T, kind>(n, x);
  }
  static void wide(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t stride, T* y) {
    std::copy_n(x, columns, y);
    const auto combine = binary_run<T>(kind);
    for (std::int64_t i = 1; i < rows; ++i) combine(columns, y, 1, x + i * stride, 1, y);
  }
  static void columns(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t stride, T* y) {
    reduce_columns<ExtremeKernel, ExtremeKernel>(rows, columns, x, stride, y);
  }
};

/// Index of the first element equal to the row's extreme (or NaN, if that is the extreme).
template <class T, Binary kind>
std::int64_t find_extreme(std::int64_t n, const T* x) {
  if (n < kShortReduction) return find_short_extreme<T, kind>(n, x);
  const T best = ExtremeKernel<T, kind>::run(n, x);
  std::int64_t i = 0;
  if (best == best)
    while (x[i] != best) ++i;
  else
    while (x[i] == x[i]) ++i;
  return i;
}

/// f with the kind as a constant.
template <class F>
Array with_kind(Binary kind, F f) {
  return kind == Binary::maximum ? f.template operator()<Binary::maximum>()
                                 : f.template operator()<Binary::minimum>();
}

void check_not_empty(const char* op, const Array& x, const Dims& axes) {
  for (const std::int64_t axis : axes)
    check(x.size(axis) > 0, "{}: of nothing: axis {} of {} has size 0", op, axis, x.shape());
}

}  // namespace

Array array::extreme(const char* op, Binary kind, const Array& x, const Axes& axes, bool keepdim) {
  if (x.dtype() == boolean) return extreme(op, kind, x.to(i64), axes, keepdim);
  const Dims which = normalize_axes(op, axes, x.dim());
  check_not_empty(op, x, which);
  return with_kind(kind, [&]<Binary k>() {
    return dispatch_numbers(op, x, [&]<class T>() {
      return reduce_axes(x, which, keepdim, [](const Array& part, const ReduceView& v) {
        if (v.p * v.q == 0) return Array::empty({v.p, v.q}, part.dtype());
        return reduce_tree<T, ExtremeKernel<T, k>>(part, v);
      });
    });
  });
}

Array array::arg_extreme(const char* op, Binary kind, const Array& x, std::optional<Int> axis, bool keepdim) {
  const Dims axes = axis ? Dims{normalize_axis(op, *axis, x.dim())} : normalize_axes(op, {}, x.dim());
  check_not_empty(op, x, axes);
  const Array y = Array::empty(reduced_shape(x.shape(), axes, keepdim), i64);
  if (y.numel() == 0) return y;
  const std::int64_t n = x.numel() / y.numel();
  Array rows = x.dtype() == boolean ? x.to(i64) : x;
  if (axis) {  // it goes last; without one all stay in order, and the index is that of the flat tensor
    Dims order;
    for (int i = 0; i < x.dim(); ++i)
      if (i != axes[0]) order.push_back(i);
    order.push_back(axes[0]);
    rows = rows.permute(order);
  }
  rows = rows.contiguous();
  return with_kind(kind, [&]<Binary k>() {
    dispatch_numbers(op, rows, [&]<class T>() {
      const T* const px = rows.data<T>();
      std::int64_t* const py = y.mutable_data<std::int64_t>();
      parallel_rows(y.numel(), n, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) py[i] = find_extreme<T, k>(n, px + i * n);
      });
    });
    return y;
  });
}

}  // namespace gradus
