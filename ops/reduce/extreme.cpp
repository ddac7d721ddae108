// Largest and smallest elements, and where they are.
//
//   max   y = max_i x_i     dx_i = dy / k where x_i = y (k elements do), else 0      saves x and y
//   argmax                  the first i with x_i = y; no gradient
//   max_with_indices        both; dx_i = dy at the first, else 0: gather at argmax
//
// A NaN counts as larger and smaller than every number: it shows instead of getting lost.
// kernels/body/reduce.h: max_run, min_run

#include <limits>

#include "gradus/core/array/detail/dispatch.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/elementwise_loops.h"
#include "gradus/ops/array/reduce_tree.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/expand_reduced.h"

namespace gradus {

namespace {

using kernels::Binary;
using kernels::Compare;

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

void check_not_empty(const char* op, const Array& x, const Dims& axes) {
  for (const std::int64_t axis : axes)
    check(x.size(axis) > 0, "{}: of nothing: axis {} of {} has size 0", op, axis, x.shape());
}

/// Of bools: as 0 and 1 in i64.
template <Binary kind>
Array extreme(const char* op, const Array& x, const Axes& axes, bool keepdim) {
  if (x.dtype() == boolean) return extreme<kind>(op, x.to(i64), axes, keepdim);
  const Dims which = normalize_axes(op, axes, x.dim());
  check_not_empty(op, x, which);
  return dispatch_numbers(op, x, [&]<class T>() {
    return reduce_axes(x, which, keepdim, [](const Array& part, const ReduceView& v) {
      if (v.p * v.q == 0) return Array::empty({v.p, v.q}, part.dtype());
      return reduce_tree<T, ExtremeKernel<T, kind>>(part, v);
    });
  });
}

template <Binary kind>
Tensor extreme_op(const char* op, const Tensor& x, const Axes& axes, bool keepdim) {
  const Array y = extreme<kind>(op, operand(op, x), axes, keepdim);
  return record(
      op, y, {&x}, [op, x = Saved(x.array()), y = Saved(y), axes, keepdim](const Array& dy, Needs) -> Grads {
        const Shape& shape = x->shape();
        const Array hit = array::compare(op, Compare::eq, *x, expand_reduced(*y, shape, axes, keepdim));
        const Array hits = array::sum(hit, axes, keepdim).to(dy.dtype());
        const Array share = expand_reduced(array::div(dy, hits), shape, axes, keepdim);
        return {array::mul(hit.to(dy.dtype()), share)};  // all NaN where the extreme is, which nothing equals
      });
}

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

template <Binary kind>
Tensor arg_extreme(const char* op, const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  const Array& from = operand(op, x);
  const Dims axes = axis ? Dims{normalize_axis(op, *axis, x.dim())} : normalize_axes(op, {}, x.dim());
  check_not_empty(op, from, axes);
  const Array y = Array::empty(reduced_shape(x.shape(), axes, keepdim), i64);
  if (y.numel() == 0) return Tensor(y);
  const std::int64_t n = from.numel() / y.numel();
  Array rows = from.dtype() == boolean ? from.to(i64) : from;
  if (axis) {  // it goes last; without one all stay in order, and the index is that of the flat tensor
    Dims order;
    for (int i = 0; i < x.dim(); ++i)
      if (i != axes[0]) order.push_back(i);
    order.push_back(axes[0]);
    rows = rows.permute(order);
  }
  rows = rows.contiguous();
  dispatch_numbers(op, rows, [&]<class T>() {
    const T* const px = rows.data<T>();
    std::int64_t* const py = y.mutable_data<std::int64_t>();
    parallel_rows(y.numel(), n, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) py[i] = find_extreme<T, kind>(n, px + i * n);
    });
  });
  return record(op, y, {&x});
}

template <Binary kind>
std::pair<Tensor, Tensor> with_indices(const char* op, const Tensor& x, Int axis, bool keepdim) {
  const Tensor index = arg_extreme<kind>(op, x, axis, /*keepdim=*/true), value = gather(x, axis, index);
  if (keepdim) return {value, index.clone()};  // a copy: writing to it must not touch what backward saved
  return {squeeze(value, axis), squeeze(index, axis).clone()};
}

}  // namespace

Array array::max(const Array& x, const Axes& axes, bool keepdim) {
  return extreme<Binary::maximum>("max", x, axes, keepdim);
}

Tensor max(const Tensor& x, const Axes& axes, Flag keepdim) {
  return extreme_op<Binary::maximum>("max", x, axes, keepdim);
}

Tensor min(const Tensor& x, const Axes& axes, Flag keepdim) {
  return extreme_op<Binary::minimum>("min", x, axes, keepdim);
}

std::pair<Tensor, Tensor> max_with_indices(const Tensor& x, Int axis, Flag keepdim) {
  return with_indices<Binary::maximum>("max_with_indices", x, axis, keepdim);
}

std::pair<Tensor, Tensor> min_with_indices(const Tensor& x, Int axis, Flag keepdim) {
  return with_indices<Binary::minimum>("min_with_indices", x, axis, keepdim);
}

Tensor argmax(const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  return arg_extreme<Binary::maximum>("argmax", x, axis, keepdim);
}

Tensor argmin(const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  return arg_extreme<Binary::minimum>("argmin", x, axis, keepdim);
}

}  // namespace gradus
