#pragma once
// What a heat map shows before any of it is drawn.

#include <limits>
#include <string>
#include <vector>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// Throws unless there is a value for each cell, and a cell.
void check_heat_map(const HeatMap& map);

/// The smallest and the largest finite value.
struct HeatEnds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  explicit HeatEnds(const std::vector<double>& values);
};

/// From 0 for the worst to 1 for the best of the values.
double goodness_of(const HeatMap& map, const HeatEnds& ends, double value);

std::string cell_text(const HeatMap& map, double value);

}  // namespace gradus::kit
