#pragma once
// One way to write all numbers of a chart.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gradus/kit/chart/axis.h"

namespace gradus::kit {

/// Writes every number with as many decimals as give the largest it has seen `significant` digits; whole
/// numbers, and those of very different sizes, each on its own.
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
  /// Decimals for all; -1: none fit, or there are only zeros.
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
