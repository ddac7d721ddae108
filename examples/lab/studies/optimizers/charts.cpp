// The pictures of the study `optimizers`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/bands.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

using kit::AxisKind;
using kit::LineChart;

using OfVariant = std::vector<double> (*)(const StudyResults&, const Grid&, const Variant&, std::size_t);

kit::BarChart bars_of(const StudyResults& results, OfVariant values, kit::BarChart chart) {
  const Grid grid = grid_of(results.options);
  for (const Variant* variant : grid.variants) chart.categories.push_back(variant->title);
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    kit::BarSeries series{.name = kPlacements[placement], .style = static_cast<int>(placement)};
    for (const Variant* variant : grid.variants) {
      const Spread spread = spread_of(values(results, grid, *variant, placement));
      series.values.push_back(spread.mean);
      series.low.push_back(spread.low);
      series.high.push_back(spread.high);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

void add_losses(LineChart& chart, const StudyResults& results, const Grid& grid, const Variant& variant,
                bool warm) {
  const double floor = recall_task().entropy().value();
  std::vector<double> x = grid.lrs(variant);
  std::vector<std::vector<double>> points(x.size());
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    points.assign(x.size(), {});
    for (const std::uint64_t seed : grid.seeds)
      if (const auto losses = losses_of(results, grid, variant, placement, warm, seed))
        for (std::size_t i = 0; i < x.size(); ++i) points[i].push_back((*losses)[i] - floor);
    std::vector<double> multiples = x;
    for (double& one : multiples) one /= x[0];
    kit::Series line = band(kPlacements[placement], multiples, points, static_cast<int>(placement));
    line.spread = kit::Spread::error_bars;
    chart.series.push_back(std::move(line));
  }
}

std::vector<double> as_doubles(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

std::string title_of(const Grid& grid, const std::string& optimizer) {
  for (const Variant* variant : grid.variants)
    if (variant->name == optimizer) return variant->title;
  return optimizer;
}

}  // namespace

kit::BarChart gain_chart(const StudyResults& results) {
  return bars_of(results, gains,
                 {.title = "What warm-up gains at the best rate",
                  .value_label = "best loss without warm-up minus with it (nats per character)"});
}

kit::BarChart more_rates_chart(const StudyResults& results) {
  return bars_of(results, more_rates,
                 {.title = "At how many more rates the model trains with warm-up",
                  .value_label = "rates that train with warm-up minus without it"});
}

kit::Panels loss_by_rate(const StudyResults& results, const std::string& group) {
  const Grid grid = grid_of(results.options);
  kit::Panels panels{.title = "Final loss against the rate"};
  for (const Variant* variant : grid.members(group))
    for (const bool warm : {false, true}) {
      LineChart chart{.title = variant->title + (warm ? ", warm-up" : ", no warm-up"),
                      .x_label = "rate, as a multiple of the lowest tried",
                      .y_label = "loss above the entropy (nats per character)",
                      .x_axis = AxisKind::log,
                      .y_axis = AxisKind::log};
      add_losses(chart, results, grid, *variant, warm);
      chart.references.push_back({.at = learned_loss() - recall_task().entropy().value(),
                                  .label = panels.panels.empty() ? "best n-gram" : ""});
      panels.panels.push_back(std::move(chart));
    }
  return panels;
}

kit::Panels sharpness_chart(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  kit::Panels panels{.title = "Sharpness along training"};
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements) {
      LineChart chart{.title = fmt::format("{}, {}", title_of(grid, optimizer), kPlacements[placement]),
                      .x_label = "step",
                      .y_label = "largest eigenvalue of the Hessian",
                      .y_axis = AxisKind::log};
      for (const bool warm : {false, true}) {
        std::vector<std::vector<double>> curves;
        for (const std::uint64_t seed : grid.seeds) {
          curves.push_back(results.series(Curve{optimizer, placement, warm, seed}.name(), "sharpness"));
          for (double& value : curves.back())
            if (value <= 0) value = std::nan("");
        }
        chart.series.push_back(band_of_curves(warm ? "with warm-up" : "without warm-up", curves, warm ? 1 : 0,
                                              as_doubles(grid.curve_steps)));
      }
      if (optimizer == "momentum") chart.references.push_back({.at = kStable, .label = "stable below"});
      chart.references.push_back({.direction = kit::Direction::vertical,
                                  .at = static_cast<double>(grid.warmup),
                                  .label = panels.panels.empty() ? "warm-up ends" : ""});
      panels.panels.push_back(std::move(chart));
    }
  return panels;
}

}  // namespace gradus::lab::optimizers
