#pragma once
// The data of a bar chart, prepared for drawing.

#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// The chart with styles assigned; throws if it is invalid.
BarChart prepared(const BarChart& chart);

/// The range of the bars: includes zero, all values, ends of error bars and references.
Range bar_range(const BarChart& chart);

/// Formats the value of a bar and the ends of its error bar: "1.37", " (1.30 to 1.44)".
class BarNumbers {
 public:
  explicit BarNumbers(const BarChart& chart);
  std::string value(double value) const;
  std::string spread(const BarSeries& series, std::size_t i) const;

 private:
  int decimals_;
};

/// Describes each category, for screen readers.
std::string describe(const BarChart& chart);

}  // namespace gradus::kit
