#include "gradus/kit/chart/detail/heat_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/kit/chart/detail/number_writer.h"

namespace gradus::kit {

HeatCells::HeatCells(const HeatMap& map) : judged_(map.low_is_good.has_value()), missing_(map.missing) {
  check(
      !map.rows.empty() && !map.columns.empty() && map.values.size() == map.rows.size() * map.columns.size(),
      "HeatMap \"{}\": expects {} x {} values for its rows and columns, got {}", map.title, map.rows.size(),
      map.columns.size(), map.values.size());
  check(map.decimals.value_or(0) >= 0 && map.decimals.value_or(0) <= 20,
        "HeatMap \"{}\": expects 0 to 20 decimals, got {}", map.title, map.decimals.value_or(0));
  NumberWriter written(3);
  written.see(map.values);
  decimals_ = map.decimals.value_or(written.all_whole() ? 0 : written.decimals());
  for (const double value : map.values) {
    if (std::isfinite(value)) darkest_ = std::min(darkest_, value), lightest_ = std::max(lightest_, value);
  }
  if (!map.low_is_good.value_or(false)) std::swap(darkest_, lightest_);
  best_ = darkest_;
  if (judged_ && std::isfinite(best_) && map.best) darkest_ = *map.best;
  if (judged_ && std::isfinite(best_) && map.worst) lightest_ = *map.worst;
}

double HeatCells::shade(double value) const {
  if (darkest_ == lightest_) return judged_ ? 1 : 0.5;
  // Halves of very large values, whose difference would be infinite.
  const double unit = std::isinf(lightest_ - darkest_) ? 0.5 : 1;
  const double away = (value * unit - darkest_ * unit) / (lightest_ * unit - darkest_ * unit);
  // The square root separates the good values, which differ little, more than the bad ones.
  return 1 - (judged_ ? std::sqrt(std::clamp(away, 0.0, 1.0)) : away);
}

std::string HeatCells::text(double value) const {
  if (!std::isfinite(value)) return missing_;
  return decimals_ >= 0 && std::abs(value) < 1e4 ? fixed_text(value, decimals_) : number_text(value, 3);
}

}  // namespace gradus::kit
