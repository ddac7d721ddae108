#include "lab/studies/bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"

namespace gradus::lab {

std::vector<double> finite(const std::vector<double>& values) {
  std::vector<double> kept;
  for (const double value : values)
    if (std::isfinite(value)) kept.push_back(value);
  return kept;
}

kit::Series band(const std::string& name, const std::vector<double>& x,
                 const std::vector<std::vector<double>>& values, int style) {
  kit::Series series{.name = name, .style = style};
  for (std::size_t i = 0; i < x.size() && i < values.size(); ++i) {
    const std::vector<double> seeds = finite(values[i]);
    if (seeds.empty()) continue;
    const Spread spread = spread_of(seeds);
    series.x.push_back(x[i]);
    series.y.push_back(spread.mean);
    series.low.push_back(spread.low);
    series.high.push_back(spread.high);
  }
  return series;
}

kit::Series band_of_curves(const std::string& name, const std::vector<std::vector<double>>& curves, int style,
                           const std::vector<double>& x) {
  std::vector<std::vector<double>> by_place;
  for (const std::vector<double>& curve : curves) {
    by_place.resize(std::max(by_place.size(), curve.size()));
    for (std::size_t i = 0; i < curve.size(); ++i) by_place[i].push_back(curve[i]);
  }
  std::vector<double> places = x;
  for (std::size_t i = places.size(); i < by_place.size(); ++i) places.push_back(static_cast<double>(i + 1));
  return band(name, places, by_place, style);
}

std::string mean_and_range(const std::vector<double>& values, int digits) {
  const std::vector<double> kept = finite(values);
  const auto text = [digits](double value) { return kit::number_text(value, digits); };
  if (kept.empty()) return "\u2013";
  const Spread spread = spread_of(kept);
  if (kept.size() == 1) return text(spread.mean);
  return fmt::format("{} ({} to {})", text(spread.mean), text(spread.low), text(spread.high));
}

std::string band_words(std::size_t seeds) {
  return fmt::format("Lines are means over {}, bands go from the lowest to the highest.",
                     counted(static_cast<std::int64_t>(seeds), "seed"));
}

}  // namespace gradus::lab
