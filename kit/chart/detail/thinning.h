#pragma once
// Long series are drawn with fewer points.

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// Points a line whose x rises may have before slices of it are averaged.
constexpr std::size_t most_points = 120;
/// Points any other series may have before only every k-th is drawn.
constexpr std::size_t most_drawn = 2000;

/// How a series is made shorter: not at all, to means of slices, or to every k-th of its points.
enum class Thinning { none, means, every_kth };
Thinning thinning_of(const Series& series);
/// The series with its means over `slices`, which maps x to 0 .. most_points, or with every k-th point.
Series with_fewer_points(const Series& series, const Scale& slices);

}  // namespace gradus::kit
