#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gradus::lab {

/// The exponent p of y = c x^p, by least squares on logarithms: `log_slope({1, 2, 4}, {3, 6, 12})` is 1. NaN
/// unless there are two different x and all values are above 0.
inline double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    const double a = std::log(x[i]), b = std::log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  const double spread = n * sxx - sx * sx;
  if (x.size() != y.size() || !(spread > 1e-12) || !std::isfinite(sy))
    return std::numeric_limits<double>::quiet_NaN();
  return (n * sxy - sx * sy) / spread;
}

}  // namespace gradus::lab
