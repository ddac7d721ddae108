// Variance and standard deviation. n: how many elements one result was made of; k = n - 1, or n (biased).
//
//   m = sum_i x_i / n   d_i = x_i - m
//   var   y = (sum_i d_i^2 - (sum_i d_i)^2 / n) / k    dx_i = dy 2 d_i / k      saves x and m
//   std   y = sqrt(var)                               dx_i = dy d_i / (k y), 0 where y = 0
//                                                                             saves x, m and y
//
// Two passes: the squares of x itself would cancel. sum_i d_i is 0 but for the rounding of m: it is taken,
// and m corrected by it, only where it could show (Chan, Golub & LeVeque 1983).
//
// m depends on every x_j. In dx that part is a multiple of sum_i d_i, so it vanishes. In the derivatives of
// dx it does not: d(d_i)/dx_j = (1 if i = j, else 0) - 1/n, so with create_graph m is on the tape (mean_of).
// Where std's y = 0, dx is the constant 0 there, and so are its derivatives.
//
// A row whose squares leave the range, or whose mean is too large for this, is computed again in f64
// (array/reduce_in_f64.h). Where the rounding of m to the dtype shows, the part it leaves out is saved too,
// as `rest`, and d_i = x_i - m - rest: in f32 for |m| above 160 sqrt(var), in f64 above 9e10 sqrt(var).
// dx has limits: x_i - m must not overflow; below the smallest normal number, 1.2e-38 in f32 and 2.2e-308
// in f64, std's y lacks digits; where var underflows to 0, m has no `rest`.
// kernels/body/reduce.h: sum_run, sum_square

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/reduce_in_f64.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/reduced_axes.h"
#include "gradus/ops/reduce/unit_rows.h"
#include "gradus/ops/reduce/var_mean.h"

namespace gradus {

using kernels::Compare;
using kernels::Unary;

namespace {

/// The parts of a variance, which keep the reduced axes with size 1.
struct Moments {
  Array mean, squares;  // squares: the sum of d^2 for d = x - mean
  Array rest = {};      // the part of the mean that rounding left out; undefined where it never shows
};

Array deviations(const Array& x, const Array& mean, const Array& rest, const Axes&) {
  const Array d = array::sub(x, mean);
  return rest.defined() ? array::sub(d, rest) : d;
}

/// m, which is known, on the tape.
Tensor mean_of(const Tensor& x, const Array& mean, const Axes& axes) {
  const double n = count(x.shape(), normalize_axes("mean", axes, x.dim()));
  return record("mean", mean, {&x}, [shape = x.shape(), axes, n]<class V>(const V& dy, auto) -> GradsOf<V> {
    return {formula::expand_reduced(formula::div(dy, n), shape, axes, /*keepdim=*/true)};
  });
}

Tensor deviations(const Tensor& x, const Array& mean, const Array& rest, const Axes& axes) {
  return VarMean{.var = {}, .mean = mean_of(x, mean, axes), .rest = Tensor(rest)}.deviations(x);
}

Moments moments(const char* op, const Array& x, const Dims& which, const Axes& axes) {
  const double n = count(x.shape(), which);
  const Array mean = formula::div(array::sum(x, axes, /*keepdim=*/true), n), d = array::sub(x, mean);
  const Array squares = array::sum_square(op, d, axes, /*keepdim=*/true);
  Array rest;
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
    rest = Array::zeros(mean.shape(), mean.dtype());
    T* const rests = rest.mutable_data<T>();
    const T* const errors = of_d.data<T>();  // n times those of the means
    for (std::int64_t i = 0; i < mean.numel(); ++i) {
      if (good(i)) continue;
      const double error = static_cast<double>(errors[i]) / n, part = error * static_cast<double>(errors[i]);
      const double rounded = means[i];
      means[i] = static_cast<T>(rounded + error);
      rests[i] = static_cast<T>(rounded - static_cast<double>(means[i]) + error);
      // A large part would cost the rest its digits: NaN, so the row is redone in f64.
      sums[i] = 16 * part < static_cast<double>(sums[i]) ? static_cast<T>(static_cast<double>(sums[i]) - part)
                                                         : std::numeric_limits<T>::quiet_NaN();
    }
  });
  return {mean, squares, rest};
}

/// result(deviations) in place of every element of y that is not good, with its mean and rest.
template <class T, class Good, class Result>
void again_in_f64(const Array& x, const Dims& which, const Array& y, Moments& of, std::int64_t n, Good good,
                  Result result) {
  if (n == 0 || in_f64::all_good_in_parallel<T>(y.numel(), good)) return;
  if (!of.rest.defined()) of.rest = Array::zeros(of.mean.shape(), of.mean.dtype());
  T *const means = of.mean.mutable_data<T>(), *const rests = of.rest.mutable_data<T>(),
           *const values = y.mutable_data<T>();
  const auto rows = [&] { return axes_last(x, which).contiguous(); };
  in_f64::for_each_bad<T>(y.numel(), n, good, rows, [=](std::int64_t i, const T* row) {
    const in_f64::Deviations<T> d(row, n);
    values[i] = static_cast<T>(result(d));
    means[i] = static_cast<T>(d.mean());
    rests[i] = static_cast<T>(d.rest(means[i]));
  });
}

/// The mean and its rest, with the reduced axes, and the variance.
struct Variance {
  Array mean, rest, var;
  double k;
};

Variance variance(const char* op, const Array& x, const Dims& which, const Axes& axes,
                  const VarOptions& options) {
  const double n = count(x.shape(), which), k = options.unbiased ? std::max(n - 1, 0.0) : n;
  Moments of = moments(op, x, which, axes);
  const Array y = formula::div(of.squares, k).reshape(reduced_shape(x.shape(), which, options.keepdim));
  dispatch_floating(op, y, [&]<class T>() {
    const auto good = [values = y.data<T>()](std::int64_t i) {
      return values[i] < std::numeric_limits<T>::infinity();
    };
    again_in_f64<T>(
        x, which, y, of, static_cast<std::int64_t>(k > 0 ? n : 0), good,
        [k](const in_f64::Deviations<T>& d) { return d.times_unit(d.times_unit(d.squares() / k)); });
  });
  return {of.mean, of.rest, y, k};
}

Tensor record_var(const Tensor& x, const Variance& v, const Axes& axes, bool keepdim) {
  return record("var", v.var, {&x},
                [x = Saved(x.array()), mean = Saved(v.mean), rest = Saved(v.rest), axes, keepdim,
                 k = v.k]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  const V scaled =
                      formula::expand_reduced(formula::mul(dy, 2 / k), x->shape(), axes, keepdim);
                  return {formula::mul(scaled, deviations(of.in(0, x), *mean, *rest, axes))};
                });
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const Array& from = floating_operand("var", x);
  return record_var(x, variance("var", from, normalize_axes("var", axes, x.dim()), axes, options), axes,
                    options.keepdim);
}

VarMean var_mean(const Tensor& x, const Axes& axes, bool unbiased) {
  const Array& from = floating_operand("var", x);
  const Dims which = normalize_axes("var", axes, x.dim());
  const VarOptions options{.keepdim = true, .unbiased = unbiased};
  const Variance of = variance("var", from, which, axes, options);
  const Tensor mean = mean_of(x, of.mean, axes);
  return {record_var(x, of, axes, true), mean, Tensor(of.rest)};
}

Tensor std(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const Array& from = floating_operand("std", x);
  const Dims which = normalize_axes("std", axes, x.dim());
  const double n = count(from.shape(), which), k = options.unbiased ? std::max(n - 1, 0.0) : n;
  Moments moment = moments("std", from, which, axes);
  const Array y = array::unary("std", Unary::sqrt, formula::div(moment.squares, k))
                      .reshape(reduced_shape(from.shape(), which, options.keepdim));
  dispatch_floating("std", y, [&]<class T>() {
    // As in norm: good where no square has left the range.
    const T least = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon());
    const auto good = [least, values = y.data<T>()](std::int64_t i) {
      return (values[i] > least) & (values[i] < std::numeric_limits<T>::infinity());
    };
    again_in_f64<T>(from, which, y, moment, static_cast<std::int64_t>(k > 0 ? n : 0), good,
                    [k](const in_f64::Deviations<T>& d) { return d.times_unit(std::sqrt(d.squares() / k)); });
  });
  return record("std", y, {&x},
                [x = Saved(from), mean = Saved(moment.mean), rest = Saved(moment.rest), y = Saved(y), axes,
                 keepdim = options.keepdim, k]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  const auto wide = [&](const V& row) {
                    return formula::expand_reduced(row, x->shape(), axes, keepdim);
                  };
                  // (x - m) / y first: at most sqrt(k), where dy / y may leave the range.
                  if constexpr (kTaped<V>) {
                    const Tensor d = deviations(of.in(0, x), *mean, *rest, axes);
                    return {wide(formula::div(dy, k)) * unit_rows(d, of.out(y), axes, keepdim)};
                  } else {
                    const Array flat = wide(array::compare("std", Compare::eq, *y, 0));
                    const Array unit = array::div(deviations(*x, *mean, *rest, axes), wide(*y));
                    const Array zero = array::scalar(0, dy.dtype());
                    return {array::mul(wide(formula::div(dy, k)), array::where(flat, zero, unit))};
                  }
                });
}

}  // namespace gradus
