#include "gradus/kit/chart/detail/heat_data.h"

#include <algorithm>
#include <cmath>

#include "gradus/kit/program/detail/check.h"

namespace gradus::kit {

void check_heat_map(const HeatMap& map) {
  check(
      !map.rows.empty() && !map.columns.empty() && map.values.size() == map.rows.size() * map.columns.size(),
      "HeatMap \"{}\": expects {} x {} values for its rows and columns, got {}", map.title, map.rows.size(),
      map.columns.size(), map.values.size());
}

HeatEnds::HeatEnds(const std::vector<double>& values) {
  for (const double value : values) {
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  }
}

double goodness_of(const HeatMap& map, const HeatEnds& ends, double value) {
  if (ends.low == ends.high) return 1;
  const double worst = map.low_is_good ? ends.high : ends.low;
  const double best = map.low_is_good ? ends.low : ends.high;
  // Halves of very large values, whose difference is no number.
  const double unit = std::isinf(worst - best) ? 0.5 : 1;
  const double badness = (value * unit - best * unit) / (worst * unit - best * unit);
  // The root spreads the good values, which differ little, at the cost of the bad ones.
  return 1 - std::sqrt(badness);
}

std::string cell_text(const HeatMap& map, double value) {
  if (!std::isfinite(value)) return map.missing;
  return std::abs(value) < 1e4 ? fixed_text(value, map.decimals) : number_text(value, 3);
}

}  // namespace gradus::kit
