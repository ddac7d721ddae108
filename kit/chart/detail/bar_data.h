#pragma once
// What a bar chart shows before any of it is drawn.

#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// The chart with styles assigned; throws when it is not well formed.
BarChart prepared(const BarChart& chart);

/// The values the bars span: zero, all values, ends of error bars and references.
Range bar_range(const BarChart& chart);

/// The number of one bar, and the ends of its error bar: "1.37", " (1.30 to 1.44)".
class BarNumbers {
 public:
  explicit BarNumbers(const BarChart& chart);
  std::string value(double value) const;
  std::string spread(const BarSeries& series, std::size_t i) const;

 private:
  int decimals_;
};

/// Each category in words.
std::string spoken(const BarChart& chart);

}  // namespace gradus::kit
