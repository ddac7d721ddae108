#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gradus::lab {

/// The slope of y against x, by least squares. NaN unless there are two different x and all values are
/// finite.
inline double line_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
    sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  const double spread = n * sxx - sx * sx;
  if (x.size() != y.size() || !(spread > 1e-12) || !std::isfinite(sy))
    return std::numeric_limits<double>::quiet_NaN();
  return (n * sxy - sx * sy) / spread;
}

inline std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

/// The exponent p of y = c x^p, by least squares on logarithms: `log_slope({1, 2, 4}, {3, 6, 12})` is 1. NaN
/// unless there are two different x and all values are above 0.
inline double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  return line_slope(logarithms(x), logarithms(y));
}

/// The rate a of y = c exp(a x), by least squares on the logarithms of y: with y = {1, 0.5, 0.25} at x =
/// {0, 1, 2} it is ln 0.5. NaN unless there are two different x and all y are above 0.
inline double exponential_rate(const std::vector<double>& x, const std::vector<double>& y) {
  return line_slope(x, logarithms(y));
}

/// What a doubling of x adds to y, by least squares: `slope_per_doubling({1, 2, 4}, {1, 3, 5})` is 2. NaN
/// unless there are two different x, all above 0, and all y are finite.
inline double slope_per_doubling(std::vector<double> x, const std::vector<double>& y) {
  for (double& value : x) value = std::log2(value);
  return line_slope(x, y);
}

}  // namespace gradus::lab
