#pragma once
// Layer norm, RMS norm and std of one row, and their gradients, in long double.

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/backend.h"
#include "isas.h"

namespace gradus::test {

using Exact = std::vector<long double>;

inline Exact exact(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  return {values.begin(), values.end()};
}

inline long double mean_product(const Exact& a, const Exact& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<long double>(a.size());
}

/// x - mean(x), of differences from x[0], so that a large mean costs no digits.
inline Exact centred(Exact x) {
  const long double first = x[0];
  for (long double& v : x) v -= first;
  const long double mean = mean_product(x, Exact(x.size(), 1));
  for (long double& v : x) v -= mean;
  return x;
}

struct ExactNorm {
  Exact xhat, dx;
};

/// xhat = d / sqrt(mean(d^2) + eps), with d = x - mean or d = x, and dx for its gradient dn.
inline ExactNorm exact_norm(const Exact& x, const Exact& dn, double eps, bool about_mean) {
  ExactNorm of{about_mean ? centred(x) : x, about_mean ? centred(dn) : dn};
  const long double rstd = 1 / std::sqrt(mean_product(of.xhat, of.xhat) + static_cast<long double>(eps));
  for (long double& v : of.xhat) v *= rstd;
  const long double along = mean_product(dn, of.xhat);
  for (std::size_t i = 0; i < x.size(); ++i) of.dx[i] = rstd * (of.dx[i] - along * of.xhat[i]);
  return of;
}

/// The largest error, relative to the largest wanted value; NaN is more than any bound.
inline double worst_error(const Tensor& got, const Exact& wanted) {
  const Exact values = exact(got);
  long double size = 0, worst = 0;
  for (const long double v : wanted) size = std::max(size, std::abs(v));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const long double error = std::abs(values[i] - wanted[i]);
    if (!(error <= worst)) worst = error;
    if (std::isnan(error)) break;
  }
  return static_cast<double>(worst / (size == 0 ? 1 : size));
}

/// A row of deviations of about `size` from `mean`, and what to normalize it with.
struct HardRow {
  DType dtype;
  double size, mean = 0, eps = 0;
  Tensor x(int n) const { return (randn({n}, f64) * size + mean).to(dtype); }
  /// A gradient with which those of x are normal numbers.
  Tensor dy(int n) const {
    const double tiny = dtype == f32 ? 1e-30 : 1e-200, large = dtype == f32 ? 1e10 : 1e100;
    return (randn({n}, f64) * (std::max(size, std::sqrt(eps)) < 1e-16 ? tiny
                               : size > 1e8                           ? large
                                                                      : 1.0))
        .to(dtype);
  }
  double most() const { return dtype == f32 ? 1e-6 : 1e-14; }
  /// The same for var, std and BatchNorm, which subtract a rounded mean below 160 or, in f64, 9e10
  /// deviations.
  double most_of_var() const {
    const double far = std::abs(mean) / size;
    return most() + (dtype == f64 && far < 9e10 ? 1e-15 * far : 0);
  }
};

/// Outside the range of squares, at the ends of their dtype's range and far from 0.
inline std::vector<HardRow> hard_rows() {
  return {{f32, 1},
          {f32, 1e-22},
          {f32, 1e-22, 0, 1e-30},
          {f32, 1e-30, 0, 1e-30},
          {f32, 1e-39},
          {f32, 1e-43},
          {f32, 1e19},
          {f32, 8e37},
          {f32, 1, 300},
          {f32, 3, 1e7, 1e-5},
          {f32, 3, -1e7},
          {f32, 1e-26, 1e-20},
          {f32, 1e33, 1e38},
          {f32, 3, 1e7, 1e-30},
          {f64, 1e-170},
          {f64, 1e-170, 0, 1e-200},
          {f64, 1e-305},
          {f64, 1e-320},
          {f64, 4e307},
          {f64, 3, 1e15, 1e-5},
          {f64, 3, -1e16},
          {f64, 1e-299, 1e-290},
          {f64, 1e-175, 1e-160},
          {f64, 1e300, 1e308}};
}

/// body(row) for all of them on every instruction set.
template <class Body>
void for_each_hard_row(Body body) {
  const Isa before = current_isa();
  for (const Isa isa : kIsas) {
    if (!isa_supported(isa)) continue;
    set_isa(isa);
    manual_seed(5);
    for (const HardRow& row : hard_rows()) {
      CAPTURE(name(isa));
      CAPTURE(name(row.dtype));
      CAPTURE(row.size);
      CAPTURE(row.mean);
      CAPTURE(row.eps);
      body(row);
    }
  }
  set_isa(before);
}

}  // namespace gradus::test
