#pragma once
// Thinning: draws long series with fewer points.

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// A line with ascending x and more points than this is averaged over slices.
constexpr std::size_t most_points = 120;
/// Of any other series with more points than this, only every k-th is drawn.
constexpr std::size_t most_drawn = 2000;

/// The method of thinning a series: none, means of slices, or every k-th of its points.
enum class Thinning { none, means, every_kth };
Thinning thinning_of(const Series& series);
/// The series with its means over `slices`, which maps x to 0 .. most_points, or with every k-th point.
Series with_fewer_points(const Series& series, const Scale& slices);

}  // namespace gradus::kit
