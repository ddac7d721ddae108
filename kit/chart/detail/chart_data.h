#pragma once
// What a chart shows before any of it is drawn: checked, condensed, with its ranges.

#include <span>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// The chart with styles assigned; throws when it is not well formed.
LineChart checked(const LineChart& chart);
/// The same with long series made shorter.
LineChart prepared(const LineChart& chart);

/// The values the axes must span: all data, bands and horizontal references, a little more on an axis of y;
/// the chart's own limits where it has them.
Range x_range(std::span<const LineChart> charts);
Range y_range(std::span<const LineChart> charts);

/// Each series in words: where it starts, ends and is smallest.
std::string spoken(const LineChart& chart);

}  // namespace gradus::kit
