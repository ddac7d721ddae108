// Variance and standard deviation. n: how many elements one result was made of; k = n - 1, or n (biased).
//
//   m = sum_i x_i / n   d_i = x_i - m
//   var   y = (sum_i d_i^2 - (sum_i d_i)^2 / n) / k    dx_i = dy 2 d_i / k      saves x and m
//   std   y = sqrt(var)                               dx_i = dy d_i / (k y), 0 where y = 0
//                                                                             saves x, m and y
//
// Two passes: the squares of x itself would cancel. sum_i d_i is 0 but for the rounding of m: it is taken,
// and m corrected by it, only where it could show (Chan, Golub & LeVeque 1983). m depends on x too, but as
// sum_i d_i = 0, that part of the derivative vanishes.
//
// A row whose squares leave the range, or whose mean is too large for this, is worked out again in f64
// (array/reduce_in_f64.h).
// kernels/body/reduce.h: sum_run, sum_square

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/array/detail/dispatch.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/reduce_in_f64.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/expand_reduced.h"
#include "gradus/ops/reduce/reduced_axes.h"
#include "gradus/ops/reduce/var_mean.h"

namespace gradus {

using kernels::Compare;
using kernels::Unary;

namespace {

/// What variances are made of.
struct Moments {
  Array mean, squares;  // squares: the sum of d^2 for d = x - mean. Both keep the reduced axes, with size 1.
};

Moments moments(const char* op, const Array& x, const Dims& which, const Axes& axes) {
  const double n = count(x.shape(), which);
  const Array mean = divided(array::sum(x, axes, /*keepdim=*/true), n), d = array::sub(x, mean);
  const Array squares = array::sum_square(op, d, axes, /*keepdim=*/true);
  dispatch_floating(op, x, [&]<class T>() {
    // A value goes through fewer than 1024 additions, each of which rounds by at most half a unit in the
    // last place: the square of such an error is no more than a ten-thousandth of the variance where this
    // holds.
    constexpr double most = 1024 * 0.5 * std::numeric_limits<T>::epsilon();
    const T least = static_cast<T>(1e4 * n * most * most);
    T *const means = mean.mutable_data<T>(), *const sums = squares.mutable_data<T>();
    const auto good = [=](std::int64_t i) {
      return (sums[i] == 0) | (sums[i] > least * means[i] * means[i]);
    };
    if (in_f64::all_good_in_parallel<T>(mean.numel(), good)) return;
    const Array of_d = array::sum(d, axes, /*keepdim=*/true);
    const T* const errors = of_d.data<T>();  // n times those of the means
    for (std::int64_t i = 0; i < mean.numel(); ++i) {
      if (good(i)) continue;
      const double error = static_cast<double>(errors[i]) / n, part = error * static_cast<double>(errors[i]);
      means[i] = static_cast<T>(static_cast<double>(means[i]) + error);
      // A large part would take the digits of the rest with it: NaN, so that the row is done in f64.
      sums[i] = 16 * part < static_cast<double>(sums[i]) ? static_cast<T>(static_cast<double>(sums[i]) - part)
                                                         : std::numeric_limits<T>::quiet_NaN();
    }
  });
  return {mean, squares};
}

/// The mean, with the reduced axes, and the variance.
struct Variance {
  Array mean, var;
  double k;
};

Variance variance(const char* op, const Array& x, const Dims& which, const Axes& axes,
                  const VarOptions& options) {
  const double n = count(x.shape(), which), k = options.unbiased ? std::max(n - 1, 0.0) : n;
  const auto [mean, squares] = moments(op, x, which, axes);
  const Array y = divided(squares, k).reshape(reduced_shape(x.shape(), which, options.keepdim));
  dispatch_floating(op, y, [&, mean = mean]<class T>() {
    T *const means = mean.mutable_data<T>(), *const values = y.mutable_data<T>();
    const auto rows = [&] { return axes_last(x, which).contiguous(); };
    const auto length = static_cast<std::int64_t>(k > 0 ? n : 0);
    const auto good = [=](std::int64_t i) { return values[i] < std::numeric_limits<T>::infinity(); };
    in_f64::for_each_bad<T>(y.numel(), length, good, rows, [=](std::int64_t i, const T* row) {
      values[i] = static_cast<T>(in_f64::var(row, length, k));
      means[i] = static_cast<T>(in_f64::mean(row, length));
    });
  });
  return {mean, y, k};
}

Tensor record_var(const Tensor& x, const Variance& of, const Axes& axes, bool keepdim) {
  return record("var", of.var, {&x},
                [x = Saved(x.array()), mean = Saved(of.mean), axes, keepdim, k = of.k](const Array& dy,
                                                                                       Needs) -> Grads {
                  const Array scaled = expand_reduced(array::mul(dy, 2 / k), x->shape(), axes, keepdim);
                  return {array::mul(scaled, array::sub(*x, *mean))};
                });
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const Array& from = floating_operand("var", x);
  return record_var(x, variance("var", from, normalize_axes("var", axes, x.dim()), axes, options), axes,
                    options.keepdim);
}

std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& axes, bool unbiased) {
  const Array& from = floating_operand("var", x);
  const Dims which = normalize_axes("var", axes, x.dim());
  const VarOptions options{.keepdim = true, .unbiased = unbiased};
  const Variance of = variance("var", from, which, axes, options);
  const double n = count(from.shape(), which);
  const Tensor mean =
      record("mean", of.mean, {&x}, [shape = x.shape(), axes, n](const Array& dy, Needs) -> Grads {
        return {expand_reduced(divided(dy, n), shape, axes, /*keepdim=*/true)};
      });
  return {record_var(x, of, axes, true), mean};
}

Tensor std(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const Array& from = floating_operand("std", x);
  const Dims which = normalize_axes("std", axes, x.dim());
  const double n = count(from.shape(), which), k = options.unbiased ? std::max(n - 1, 0.0) : n;
  const auto [mean, squares] = moments("std", from, which, axes);
  const Array y = array::unary("std", Unary::sqrt, divided(squares, k))
                      .reshape(reduced_shape(from.shape(), which, options.keepdim));
  dispatch_floating("std", y, [&, mean = mean]<class T>() {
    // As in norm: good where no square has left the range.
    const T least = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon());
    T *const means = mean.mutable_data<T>(), *const values = y.mutable_data<T>();
    const auto rows = [&] { return axes_last(from, which).contiguous(); };
    const auto length = static_cast<std::int64_t>(k > 0 ? n : 0);
    const auto good = [=](std::int64_t i) {
      return (values[i] > least) & (values[i] < std::numeric_limits<T>::infinity());
    };
    in_f64::for_each_bad<T>(y.numel(), length, good, rows, [=](std::int64_t i, const T* row) {
      values[i] = static_cast<T>(in_f64::std(row, length, k));
      means[i] = static_cast<T>(in_f64::mean(row, length));
    });
  });
  return record("std", y, {&x},
                [x = Saved(from), mean = Saved(mean), y = Saved(y), axes, keepdim = options.keepdim, k](
                    const Array& dy, Needs) -> Grads {
                  const auto wide = [&](const Array& row) {
                    return expand_reduced(row, x->shape(), axes, keepdim);
                  };
                  // (x - m) / y first: at most sqrt(k), where dy / y may leave the range.
                  const Array flat = wide(array::compare("std", Compare::eq, *y, 0));
                  const Array unit = array::div(array::sub(*x, *mean), wide(*y));
                  const Array zero = array::scalar(0, dy.dtype());
                  return {array::mul(wide(divided(dy, k)), array::where(flat, zero, unit))};
                });
}

}  // namespace gradus
