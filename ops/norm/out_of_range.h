#pragma once
// Rows whose squares leave the range of their dtype, for layer_norm and rms_norm. The kernel's rstd shows
// them.

#include <cmath>

#include "gradus/ops/array/reduce_in_f64.h"

namespace gradus {

/// again(row) for the rows from begin to end whose mean square has overflowed (rstd is 0 or NaN), or is so
/// small that squares have lost digits.
template <class T, class Again>
void for_each_out_of_range(std::int64_t begin, std::int64_t end, const T* rstd, Again again) {
  constexpr T most = sizeof(T) == sizeof(float) ? T(0x1p51) : T(0x1p484);
  const auto good = [=](std::int64_t row) { return (rstd[row] > 0) & (rstd[row] < most); };
  if (in_f64::all_good<T>(begin, end, good)) [[likely]]
    return;
  for (std::int64_t row = begin; row < end; ++row)
    if (!good(row)) again(row);
}

/// Normalizes a row in f64, scaled; without `mean` about 0. Absent weights are null. A row with NaN or
/// infinity stays as the kernel left it.
template <class T>
void normalize_in_f64(std::int64_t n, double eps, const T* x, const T* weight, const T* bias, T* y, T* mean,
                      T* rstd) {
  const double centre = mean ? in_f64::mean(x, n) : 0, count = static_cast<double>(n);
  const double deviation = mean ? in_f64::std(x, n, count) : in_f64::norm(x, n) / std::sqrt(count);
  if (!std::isfinite(deviation)) return;
  const double root = std::hypot(deviation, std::sqrt(eps));
  for (std::int64_t i = 0; i < n; ++i) {
    const double xhat =
        (0.5 * static_cast<double>(x[i]) - 0.5 * centre) * (2 / root);  // x - centre may overflow
    y[i] = static_cast<T>(xhat * (weight ? static_cast<double>(weight[i]) : 1) +
                          (bias ? static_cast<double>(bias[i]) : 0));
  }
  if (mean) *mean = static_cast<T>(centre);
  *rstd = static_cast<T>(1 / root);
}

}  // namespace gradus
