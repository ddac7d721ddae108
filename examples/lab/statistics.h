#pragma once
// Means and spreads of a few numbers.

#include <span>

namespace gradus::lab {

/// NaN for no values.
double mean(std::span<const double> values);
/// Of a sample (n - 1); 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

}  // namespace gradus::lab
