// The charts of the study `optimizers`.

#include <fmt/format.h>

#include "lab/studies/optimizers/optimizers.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

using kit::AxisKind;
using kit::LineChart;

using OfVariant = std::vector<double> (*)(const StudyResults&, const Variant&, std::size_t);

kit::BarChart bars_of(const StudyResults& results, OfVariant values, kit::BarChart chart) {
  const Grid grid = grid_of(results.options);
  for (const Variant* variant : grid.variants) chart.categories.push_back(variant->title);
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    kit::BarSeries& bars = chart.series.emplace_back(
        kit::BarSeries{.name = kPlacements[placement], .style = static_cast<int>(placement)});
    for (const Variant* variant : grid.variants) add_bar(bars, values(results, *variant, placement));
  }
  return chart;
}

/// Losses against multiples of the lowest rate.
std::vector<kit::Series> losses_by_multiple(const StudyResults& results, const Grid& grid,
                                            const Variant& variant, bool warm) {
  std::vector<kit::Series> both;
  std::vector<double> multiples = grid.lrs(variant);
  for (double& one : multiples) one /= grid.lrs(variant).front();
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    std::vector<std::vector<double>> losses = by_rate(results, losses_of(grid, variant, placement, warm));
    for (std::vector<double>& row : losses)
      for (double& loss : row) loss -= recall_task().entropy().value();
    both.push_back(band(kPlacements[placement], multiples, losses, static_cast<int>(placement)));
    both.back().spread = kit::Spread::error_bars;
  }
  return both;
}

std::string title_of(const Grid& grid, const std::string& optimizer) {
  for (const Variant* variant : grid.variants)
    if (variant->name == optimizer) return variant->title;
  return optimizer;
}

}  // namespace

kit::BarChart gain_chart(const StudyResults& results) {
  return bars_of(results, gains,
                 {.title = "Gain of warm-up at the best rate",
                  .value_label = "best loss without warm-up minus with it (nats per character)"});
}

kit::BarChart more_rates_chart(const StudyResults& results) {
  return bars_of(results, more_rates,
                 {.title = "Additional rates that train with warm-up",
                  .value_label = "rates that train with warm-up minus without it"});
}

kit::Panels loss_by_rate(const StudyResults& results, const std::string& group) {
  const Grid grid = grid_of(results.options);
  kit::Panels all{.title = "Final loss against the rate"};
  for (const Variant* variant : grid.members(group))
    for (const bool warm : {false, true})
      all.panels.push_back(
          {.title = variant->title + (warm ? ", warm-up" : ", no warm-up"),
           .x_label = "rate, as a multiple of the lowest tried",
           .y_label = "loss above the entropy (nats per character)",
           .x_axis = AxisKind::log,
           .y_axis = AxisKind::log,
           .series = losses_by_multiple(results, grid, *variant, warm),
           .references = {{.at = learned_loss() - recall_task().entropy().value(), .label = "best n-gram"}}});
  return label_once(all);
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
        auto curves = Runs(results, grid.seeds, [&](std::uint64_t seed) {
                        return Curve{optimizer, placement, warm, seed}.name();
                      }).curves("sharpness");
        for (std::vector<double>& curve : curves)
          for (double& value : curve)
            if (value <= 0) value = kit::nothing;
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
