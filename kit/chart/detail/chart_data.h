#pragma once
// The data of a line chart, prepared for drawing: checked and thinned, with its ranges.

#include <span>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// The chart with styles assigned; throws if it is invalid.
LineChart checked(const LineChart& chart);
/// The same with long series thinned.
LineChart prepared(const LineChart& chart);

/// The ranges of the axes: all data, for y also bands and horizontal references and a margin; or the chart's
/// limits if given.
Range x_range(std::span<const LineChart> charts);
Range y_range(std::span<const LineChart> charts);

/// Describes each series, for screen readers: its first, last and smallest value.
std::string describe(const LineChart& chart);

}  // namespace gradus::kit
