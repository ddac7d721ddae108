// Reductions: an axis disappears (or, with keepdim, has size 1). Backward repeats the gradient along the axes
// that went (expand_reduced): a view that costs nothing. n: how many elements one result was made of.
//
//   sum        y = sum_i x_i                   dx_i = dy                        saves nothing
//   mean       y = sum_i x_i / n               dx_i = dy / n                    saves nothing
//   norm       y = sqrt(sum_i x_i^2)           dx_i = dy x_i / y, 0 where y = 0   saves x and y
//              p = 1 is sum(abs(x)), p = infinity max(abs(x)). Where y = 0, all derivatives of dx are 0 too;
//              elsewhere the k-th of y is of the size of y^(1-k), and NaN where that leaves the range, as for
//              k = 3 in f32 with y = 1e-20.
//   logsumexp  y = log sum_i e^(x_i)           dx_i = dy e^(x_i - m) / sum_j e^(x_j - m)   saves x
//              shifted by the maximum m, so nothing overflows; e^(x_i - y) would lose the log next to a
//              large m. m cancels from dx, which is differentiated as if m were constant.
//
// Where a sum or a square leaves the range though the result does not, that row is worked out again
// (array/reduce_in_f64.h). array/reduce.cpp makes sums of the kernels' runs:
// kernels/body/reduce.h: sum_run, sum_square
// kernels/body/softmax.h: logsumexp

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/reduce_in_f64.h"
#include "gradus/ops/array/reduce_tree.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/reduced_axes.h"
#include "gradus/ops/reduce/unit_rows.h"

namespace gradus {

namespace {

using kernels::Compare;
using kernels::Unary;

template <class T>
struct LogSumExpKernel {
  static T run(std::int64_t n, const T* x) { return kernels::table<T>().logsumexp(n, x); }
  static void columns(std::int64_t, std::int64_t, const T*, std::int64_t, T*) {}  // rows only: axes go last
};

/// For many rows of few values, [P, R] -> [P, 1]: whole arrays at a time, vectors full of rows.
Array short_log_sum_exp(const Array& rows) {
  const char* const op = "logsumexp";
  const Array largest = array::max(rows, -1, /*keepdim=*/true);
  const Array shifted = array::unary(op, Unary::exp, array::sub(rows, largest));
  const Array y = array::add(array::unary(op, Unary::log, array::sum(shifted, -1, true)), largest);
  // A maximum that is infinite or NaN is the answer itself.
  return array::where(array::compare(op, Compare::eq, array::sub(largest, largest), 0), y, largest);
}

Array log_sum_exp(const Array& x, const Dims& axes, bool keepdim) {
  const Array last = axes_last(x, axes).contiguous();
  const Shape shape = reduced_shape(x.shape(), axes, keepdim);
  const ReduceView view{numel(shape), static_cast<std::int64_t>(count(x.shape(), axes)), 1};
  return dispatch_floating("logsumexp", x, [&]<class T>() {
    if (view.r == 0 || view.p == 0) return Array::full(shape, -INFINITY, x.dtype());
    if (view.r < kShortReduction && view.p > 32)
      return short_log_sum_exp(last.reshape({view.p, view.r})).reshape(shape);
    return reduce_tree<T, LogSumExpKernel<T>>(last, view).reshape(shape);
  });
}

/// What the powers are shifted by, and where the largest element is finite.
std::pair<Array, Array> shift_of(const Array& x, const Axes& axes) {
  const char* const op = "logsumexp";
  const Array largest = array::max(x, axes, /*keepdim=*/true);
  // All -inf: shifted by 0 the powers are 0, and so is the gradient.
  return {
      array::where(array::compare(op, Compare::eq, largest, -INFINITY), array::scalar(0, x.dtype()), largest),
      array::compare(op, Compare::eq, array::sub(largest, largest), 0)};
}

Array log_sum_exp_grad(const Array& x, const Array& dy, const Axes& axes) {
  if (x.numel() == 0) return Array::empty(x.shape(), x.dtype());
  const auto [shift, finite] = shift_of(x, axes);
  const Array powers = array::unary("logsumexp", Unary::exp, array::sub(x, shift));
  const Array total = array::where(finite, array::sum(powers, axes, true), array::scalar(1, x.dtype()));
  return array::mul(powers, array::div(dy.reshape(total.shape()), total));
}

Tensor log_sum_exp_grad(const Tensor& x, const Tensor& dy, const Axes& axes) {
  const Tensor rows = dy.reshape(reduced_shape(x.shape(), normalize_axes("logsumexp", axes, x.dim()), true));
  if (x.numel() == 0) return rows.expand(x.shape());
  const auto [shift, finite] = shift_of(x.array(), axes);
  const Tensor powers = exp(x - Tensor(shift));
  const Tensor total = where(Tensor(finite), sum(powers, axes, /*keepdim=*/true), 1);
  return powers * (rows / total);
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, Flag keepdim) {
  return record("sum", array::sum(operand("sum", x), axes, keepdim), {&x},
                [shape = x.shape(), axes, keepdim]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {formula::expand_reduced(dy, shape, axes, keepdim)};
                });
}

Tensor mean(const Tensor& x, const Axes& axes, Flag keepdim) {
  const Array& from = floating_operand("mean", x);
  const Dims which = normalize_axes("mean", axes, x.dim());
  const double n = count(from.shape(), which);
  const Array y = formula::div(array::sum(from, axes, keepdim), n);
  dispatch_floating("mean", y, [&]<class T>() {
    T* const values = y.mutable_data<T>();
    const auto rows = [&] { return axes_last(from, which).contiguous(); };
    const auto length = static_cast<std::int64_t>(n);
    const auto good = [=](std::int64_t i) {
      return std::abs(values[i]) < std::numeric_limits<T>::infinity();
    };
    in_f64::for_each_bad<T>(y.numel(), length, good, rows, [=](std::int64_t i, const T* row) {
      values[i] = static_cast<T>(in_f64::Deviations(row, length).mean());
    });
  });
  return record("mean", y, {&x},
                [shape = x.shape(), axes, keepdim, n]<class V>(const V& dy, auto) -> GradsOf<V> {
                  const V part = n == 0 ? dy : formula::div(dy, n);  // dy / 0 times no element would be NaN
                  return {formula::expand_reduced(part, shape, axes, keepdim)};
                });
}

namespace {

/// p = 2.
Tensor euclidean_norm(const Tensor& x, const Dims& which, const Axes& axes, bool keepdim) {
  const Array& from = x.array();
  const Array y = array::unary("norm", Unary::sqrt, array::sum_square("norm", from, axes, keepdim));
  dispatch_floating("norm", y, [&]<class T>() {
    // Below, squares may have lost digits, or all of them.
    const T least = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon());
    T* const values = y.mutable_data<T>();
    const auto rows = [&] { return axes_last(from, which).contiguous(); };
    const auto length = static_cast<std::int64_t>(count(from.shape(), which));
    const auto good = [=](std::int64_t i) {
      return (values[i] > least) & (values[i] < std::numeric_limits<T>::infinity());
    };
    in_f64::for_each_bad<T>(y.numel(), length, good, rows, [=](std::int64_t i, const T* row) {
      values[i] = static_cast<T>(in_f64::norm(row, length));
    });
  });
  return record("norm", y, {&x},
                [x = Saved(from), y = Saved(y), axes, keepdim]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  // x / y first: at most 1, where dy / y may leave the range.
                  const auto wide = [&](const V& row) {
                    return formula::expand_reduced(row, x->shape(), axes, keepdim);
                  };
                  if constexpr (kTaped<V>) {
                    return {wide(dy) * unit_rows(of.in(0, x), of.out(y), axes, keepdim)};
                  } else {
                    const Array zero = array::scalar(0, dy.dtype());
                    const Array unit = array::where(wide(array::compare("norm", Compare::eq, *y, 0)), zero,
                                                    array::div(*x, wide(*y)));
                    return {array::mul(wide(dy), unit)};
                  }
                });
}

}  // namespace

Tensor norm(const Tensor& x, Scalar p, const Axes& axes, Flag keepdim) {
  const Array& from = floating_operand("norm", x);
  const Dims which = normalize_axes("norm", axes, x.dim());
  const double order = p.as<double>();
  if (order == 2) return euclidean_norm(x, which, axes, keepdim);
  if (order == 1 && p.kind() != Scalar::Kind::logical) return sum(abs(x), axes, keepdim);
  check(order == INFINITY,
        "norm: expects p = 1, 2 or INFINITY, got {}: axes come after it, as in norm(x, 2, -1)", p);
  check(count(from.shape(), which) > 0, "norm: p = inf of nothing: axes {} of {}", which, from.shape());
  return max(abs(x), axes, keepdim);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, Flag keepdim) {
  const Array& from = floating_operand("logsumexp", x);
  const Array y = log_sum_exp(from, normalize_axes("logsumexp", axes, x.dim()), keepdim);
  return record("logsumexp", y, {&x}, [x = Saved(from), axes]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {log_sum_exp_grad(of.in(0, x), dy, axes)};
  });
}

}  // namespace gradus
