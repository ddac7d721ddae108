// Reductions: an axis disappears (or, with keepdim, has size 1). Backward spreads the gradient over the axes
// that went: it puts them back with size 1 and expands, a view that costs nothing. n: how many elements one
// result was made of.
//
//   sum        y = sum_i x_i                   dx_i = dy                        saves nothing
//   mean       y = sum_i x_i / n               dx_i = dy / n                    saves nothing
//   var        y = sum_i (x_i - m)^2 / k       dx_i = dy 2 (x_i - m) / k        saves x and the mean m
//              k = n - 1 or n; two passes: the squares of x itself would cancel.
//              (m depends on x too, but sum_i (x_i - m) is 0, so that part vanishes.)
//   norm       y = sqrt(sum_i x_i^2)           dx_i = dy x_i / y, 0 where y = 0   saves x and y
//   logsumexp  y = log sum_i e^(x_i)           dx_i = dy e^(x_i - y)            saves x and y
//              rows are shifted by their maximum, so nothing overflows.

#include <algorithm>
#include <cmath>

#include "gradus/core/dispatch.h"
#include "gradus/core/record.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce_tree.h"
#include "gradus/ops/spread.h"

namespace gradus {

namespace {

using kernels::Compare;
using kernels::Unary;

/// How many elements of `shape` one result of a reduction over `axes` is made of.
double count(const Shape& shape, const Dims& axes) {
  double n = 1;
  for (const std::int64_t axis : axes) n *= static_cast<double>(shape[static_cast<int>(axis)]);
  return n;
}

Array divided(const Array& x, double n) { return eager::binary("div", kernels::Binary::div, x, n); }

void check_floating(const char* op, const Array& x) {
  check(is_floating(x.dtype()), "{}: expects f32 or f64, got {} {}: convert with .to(f32)", op, x.dtype(),
        x.shape());
}

template <class T>
struct LogSumExpKernel {
  static T run(std::int64_t n, const T* x) { return kernels::table<T>().logsumexp(n, x); }
  static void columns(std::int64_t, std::int64_t, const T*, std::int64_t, T*) {}  // rows only: axes go last
};

/// x with the reduced axes behind the others.
Array axes_last(const Array& x, const Dims& axes) {
  Dims order;
  for (int i = 0; i < x.dim(); ++i)
    if (!axes.contains(i)) order.push_back(i);
  for (const std::int64_t axis : axes) order.push_back(axis);
  return x.permute(order);
}

/// For many rows of few values, [P, R] -> [P, 1]: whole arrays at a time, vectors full of rows.
Array short_log_sum_exp(const Array& rows) {
  const char* const op = "logsumexp";
  const Array largest = eager::max(rows, -1, /*keepdim=*/true);
  const Array shifted = eager::unary(op, Unary::exp, eager::sub(rows, largest));
  const Array y = eager::add(eager::unary(op, Unary::log, eager::sum(shifted, -1, true)), largest);
  // A maximum that is infinite or NaN is the answer itself.
  return eager::where(eager::compare(op, Compare::eq, eager::sub(largest, largest), 0), y, largest);
}

Array log_sum_exp(const Array& x, const Dims& axes, bool keepdim) {
  const Array last = axes_last(x, axes).contiguous();
  const Shape shape = reduced_shape(x.shape(), axes, keepdim);
  const ReduceView view{numel(shape), static_cast<std::int64_t>(count(x.shape(), axes)), 1};
  return dispatch_floating("logsumexp", x.dtype(), [&]<class T>() {
    if (view.r == 0 || view.p == 0) return Array::full(shape, -INFINITY, x.dtype());
    if (view.r < kShortReduction && view.p > 32)
      return short_log_sum_exp(last.reshape({view.p, view.r})).reshape(shape);
    return reduce_tree<T, LogSumExpKernel<T>>(last, view).reshape(shape);
  });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  return record("sum", eager::sum(operand("sum", x), axes, keepdim), {&x},
                [shape = x.shape(), axes, keepdim](const Array& dy, Needs) -> Grads {
                  return {spread(dy, shape, axes, keepdim)};
                });
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdim) {
  check_floating("mean", operand("mean", x));
  const double n = count(x.shape(), normalize_axes("mean", axes, x.dim()));
  const Array y = divided(eager::sum(x.array(), axes, keepdim), n);
  return record("mean", y, {&x}, [shape = x.shape(), axes, keepdim, n](const Array& dy, Needs) -> Grads {
    return {spread(divided(dy, n), shape, axes, keepdim)};
  });
}

Tensor var(const Tensor& x, const Axes& axes, bool keepdim, bool unbiased) {
  const Array& from = operand("var", x);
  check_floating("var", from);
  const double n = count(from.shape(), normalize_axes("var", axes, x.dim()));
  const double k = unbiased ? std::max(n - 1, 0.0) : n;
  const Array mean = divided(eager::sum(from, axes, /*keepdim=*/true), n);
  const Array y = divided(eager::sum_square("var", eager::sub(from, mean), axes, keepdim), k);
  return record("var", y, {&x},
                [x = Saved(from), mean = Saved(mean), axes, keepdim, k](const Array& dy, Needs) -> Grads {
                  const Array scaled = spread(eager::mul(dy, 2 / k), x->shape(), axes, keepdim);
                  return {eager::mul(scaled, eager::sub(*x, *mean))};
                });
}

Tensor norm(const Tensor& x, const Axes& axes, bool keepdim) {
  const Array& from = operand("norm", x);
  const Array y = eager::unary("norm", Unary::sqrt, eager::sum_square("norm", from, axes, keepdim));
  return record("norm", y, {&x},
                [x = Saved(from), y = Saved(y), axes, keepdim](const Array& dy, Needs) -> Grads {
                  const Array zero = eager::scalar(0, dy.dtype());
                  const Array scaled =
                      eager::where(eager::compare("norm", Compare::eq, *y, 0), zero, eager::div(dy, *y));
                  return {eager::mul(spread(scaled, x->shape(), axes, keepdim), *x)};
                });
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim) {
  const Array& from = operand("logsumexp", x);
  check_floating("logsumexp", from);
  const Array y = log_sum_exp(from, normalize_axes("logsumexp", axes, x.dim()), keepdim);
  return record(
      "logsumexp", y, {&x}, [x = Saved(from), y = Saved(y), axes, keepdim](const Array& dy, Needs) -> Grads {
        // All -inf: y is -inf, and -inf - (-inf) would be NaN; shifted by 0 the gradient is 0.
        const Array zero = eager::scalar(0, y->dtype());
        const Array shift = eager::where(eager::compare("logsumexp", Compare::eq, *y, -INFINITY), zero, *y);
        const Array p =
            eager::unary("logsumexp", Unary::exp, eager::sub(*x, spread(shift, x->shape(), axes, keepdim)));
        return {eager::mul(spread(dy, x->shape(), axes, keepdim), p)};
      });
}

}  // namespace gradus
