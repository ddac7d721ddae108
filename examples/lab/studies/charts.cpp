#include "lab/studies/charts.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "lab/statistics/statistics.h"

namespace gradus::lab {

std::vector<double> finite(const std::vector<double>& values) {
  std::vector<double> kept;
  for (const double value : values)
    if (std::isfinite(value)) kept.push_back(value);
  return kept;
}

double geometric_mean(const std::vector<double>& values) {
  std::vector<double> logs = finite(values);
  for (double& value : logs) value = std::log(value);
  return std::exp(mean(finite(logs)));
}

kit::Series band(const std::string& name, const std::vector<double>& x,
                 const std::vector<std::vector<double>>& values, int style, Center center) {
  kit::Series series{.name = name, .style = style};
  for (std::size_t i = 0; i < x.size() && i < values.size(); ++i) {
    const std::vector<double> seeds = finite(values[i]);
    if (seeds.empty()) continue;
    const Spread spread = spread_of(seeds);
    series.x.push_back(x[i]);
    series.y.push_back(center ? center(seeds) : spread.mean);
    series.low.push_back(spread.low);
    series.high.push_back(spread.high);
  }
  return series;
}

kit::Series band_of_curves(const std::string& name, const std::vector<std::vector<double>>& curves, int style,
                           const std::vector<double>& x, Center center) {
  std::vector<std::vector<double>> by_place(longest(curves));
  for (const std::vector<double>& curve : curves)
    for (std::size_t i = 0; i < curve.size(); ++i) by_place[i].push_back(curve[i]);
  std::vector<double> places = x;
  for (std::size_t i = places.size(); i < by_place.size(); ++i) places.push_back(static_cast<double>(i + 1));
  return band(name, places, by_place, style, center);
}

std::vector<kit::Series> without_bands(std::vector<kit::Series> lines) {
  for (kit::Series& line : lines) line.low.clear(), line.high.clear();
  return lines;
}

kit::Panels label_once(kit::Panels panels) {
  std::set<std::string> labelled;
  for (kit::LineChart& panel : panels.panels)
    for (kit::Reference& reference : panel.references)
      if (!labelled.insert(reference.label).second) reference.label.clear();
  return panels;
}

std::size_t longest(const std::vector<std::vector<double>>& curves) {
  std::size_t length = 0;
  for (const std::vector<double>& curve : curves) length = std::max(length, curve.size());
  return length;
}

std::vector<double> thinned_steps(std::int64_t steps, std::size_t count) {
  std::vector<double> places;
  for (std::size_t i = 0; i < count; ++i)
    places.push_back(1 + static_cast<double>(i * static_cast<std::size_t>(steps - 1) /
                                             std::max<std::size_t>(count - 1, 1)));
  return places;
}

std::vector<double> middles_of_slices(std::int64_t steps, std::size_t count) {
  std::vector<double> places;
  for (std::size_t i = 0; i < count; ++i)
    places.push_back((static_cast<double>(i) + 0.5) * static_cast<double>(steps) /
                     static_cast<double>(count));
  return places;
}

std::vector<double> ends_of_slices(std::int64_t steps, std::size_t count) {
  std::vector<double> places;
  for (std::size_t i = 1; i <= count; ++i)
    places.push_back(static_cast<double>(i) * static_cast<double>(steps) / static_cast<double>(count));
  return places;
}

void add_bar(kit::BarSeries& bars, const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  bars.values.push_back(spread.mean);
  bars.low.push_back(spread.low);
  bars.high.push_back(spread.high);
}

std::string mean_and_range(const std::vector<double>& values, int digits) {
  const std::vector<double> kept = finite(values);
  const auto text = [digits](double value) { return kit::number_text(value, digits); };
  if (kept.empty()) return "\u2013";
  const Spread spread = spread_of(kept);
  if (kept.size() == 1) return text(spread.mean);
  return fmt::format("{} ({} to {})", text(spread.mean), text(spread.low), text(spread.high));
}

std::string count_seeds(std::size_t seeds) { return counted(static_cast<std::int64_t>(seeds), "seed"); }

std::string describe_bands(std::size_t seeds) {
  return fmt::format("Lines are means over {}; bands range from the lowest to the highest.",
                     count_seeds(seeds));
}

std::string describe_bars(std::size_t seeds) {
  return fmt::format("Lines are means over seeds; bars range from the lowest to the highest of {}.",
                     count_seeds(seeds));
}

}  // namespace gradus::lab
