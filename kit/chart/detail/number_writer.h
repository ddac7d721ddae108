#pragma once
// Formats all values of a chart alike.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gradus/kit/chart/axis.h"

namespace gradus::kit {

/// Formats every value with the decimals that give the largest value seen `significant` digits; if that value
/// is too large or too small for decimals, each is formatted separately.
class NumberWriter {
 public:
  explicit NumberWriter(int significant) : significant_(significant) {}
  void see(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      largest_ = std::max(largest_, std::abs(value));
      whole_ = whole_ && value == std::floor(value);
    }
  }
  bool all_whole() const { return whole_; }
  /// The decimals for all values; -1: none fit, or all are zero.
  int decimals() const {
    if (largest_ < 1e-3 || largest_ >= 1e5) return -1;
    return std::max(0, significant_ - 1 - static_cast<int>(std::floor(std::log10(largest_))));
  }
  std::string operator()(double value, int digits) const {
    return decimals() < 0 || !std::isfinite(value) ? number_text(value, digits)
                                                   : fixed_text(value, decimals());
  }

 private:
  int significant_;
  double largest_ = 0;
  bool whole_ = true;
};

}  // namespace gradus::kit
