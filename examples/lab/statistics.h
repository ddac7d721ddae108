#pragma once
// Means and spreads of a few numbers, and what can be said of a difference between them.

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradus::lab {

/// NaN for no values.
double mean(std::span<const double> values);
/// Of a sample (n - 1); 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

struct Spread {
  double mean = 0, std = 0, low = 0, high = 0;
  std::size_t count = 0;
};

/// NaN throughout for no values.
Spread spread_of(std::span<const double> values);

/// The mean of paired differences with Student's 95% interval: mean +- half_width.
struct Difference {
  double mean = 0;
  double half_width = 0;  // infinite for fewer than two pairs: they say nothing about spread
  std::size_t count = 0;
  /// The interval excludes zero.
  bool clear() const { return mean > half_width || -mean > half_width; }
};

Difference difference_of(std::span<const double> paired_differences);

/// McNemar's exact test: how likely pairs that differ would divide at least as unevenly as `a` to `b` if both
/// directions were equally likely. 1 when none differ.
double mcnemar(std::int64_t a, std::int64_t b);

}  // namespace gradus::lab
