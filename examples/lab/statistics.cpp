#include "lab/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gradus::lab {

namespace {

/// The 97.5% point of Student's t: the half width of a 95% interval in standard errors.
double student_t(std::size_t degrees) {
  constexpr std::array<double, 10> table = {12.706, 4.303, 3.182, 2.776, 2.571,
                                            2.447,  2.365, 2.306, 2.262, 2.228};
  if (degrees <= table.size()) return table[degrees - 1];
  const auto n = static_cast<double>(degrees);
  return 1.960 + 2.372 / n + 2.823 / (n * n);  // the first terms of Cornish and Fisher's expansion
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Spread spread_of(std::span<const double> values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {nan, nan, nan, nan, 0};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {mean(values), standard_deviation(values), *low, *high, values.size()};
}

Difference difference_of(std::span<const double> paired_differences) {
  const std::size_t n = paired_differences.size();
  Difference result{mean(paired_differences), std::numeric_limits<double>::infinity(), n};
  if (n >= 2)
    result.half_width =
        student_t(n - 1) * standard_deviation(paired_differences) / std::sqrt(static_cast<double>(n));
  return result;
}

double mcnemar(std::int64_t a, std::int64_t b) {
  // Twice the binomial tail; logarithms keep large counts from underflowing.
  const auto n = static_cast<double>(a + b);
  double tail = 0;
  for (std::int64_t k = 0; k <= std::min(a, b); ++k) {
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace gradus::lab
