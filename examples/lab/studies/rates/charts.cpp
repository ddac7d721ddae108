// The charts of the study `rates`.

#include <fmt/format.h>

#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

namespace {

using kit::AxisKind;
using kit::LineChart;

double entropy() { return recall_task().entropy().value(); }

/// The axes of a chart against depth, for one warm-up.
LineChart by_depth(const Grid& grid, std::int64_t warmup, const std::string& y_label) {
  return {.title = warmup == 0 ? "no warm-up" : fmt::format("warm-up {}", warmup),
          .x_label = "layers",
          .y_label = y_label,
          .x_axis = AxisKind::log,
          .x_ticks = as_doubles(grid.depths)};
}

}  // namespace

kit::Panels loss_by_rate(const StudyResults& results, std::int64_t warmup) {
  const Grid grid = grid_of(results.options);
  return label_once(panels(
      "Final loss against the rate, " + describe_warmup(warmup), grid.depths, [&](std::int64_t layers) {
        const auto losses = [&](const std::string& placement, double lr) {
          std::vector<double> all = at_rate(results, losses_of(grid, {placement, layers, warmup}), lr);
          for (double& loss : all) loss -= entropy();
          return all;
        };
        return LineChart{.title = counted(layers, "layer"),
                         .x_label = "learning rate",
                         .y_label = "loss above the entropy (nats per character)",
                         .x_axis = AxisKind::log,
                         .y_axis = AxisKind::log,
                         .x_ticks = grid.lrs,
                         .series = lines(kPlacements, grid.lrs, losses),
                         .references = {{.at = learned_loss() - entropy(), .label = "best n-gram"}}};
      }));
}

kit::HeatMap learned_map(const StudyResults& results, std::int64_t warmup) {
  const Grid grid = grid_of(results.options);
  struct Model {
    std::string name;
    Sweep sweep;
  };
  std::vector<Model> models;
  for (const std::int64_t layers : grid.depths)
    for (const std::string& placement : kPlacements)
      models.push_back({fmt::format("{} {}", layers, placement), {placement, layers, warmup}});
  const kit::HeatMap axes{.title = "Seeds that trained, " + describe_warmup(warmup),
                          .x_label = "learning rate",
                          .y_label = "layers",
                          .value_label = fmt::format("seeds of {}", grid.seeds.size()),
                          .decimals = 0};
  return filled(axes, models, grid.lrs, [&](const Model& model, double lr) {
    const std::vector<double> losses = finite(at_rate(results, losses_of(grid, model.sweep), lr));
    const auto trained =
        std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); });
    return losses.empty() ? kit::nothing : static_cast<double>(trained);
  });
}

kit::Panels sensitivity_by_depth(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  return panels("Sensitivity to the rate against depth", grid.warmups, [&](std::int64_t warmup) {
    LineChart chart = by_depth(grid, warmup, "sensitivity (nats per character)");
    chart.y_low = 0;
    chart.series = lines(kPlacements, grid.depths, [&](const std::string& placement, std::int64_t layers) {
      return sensitivities(results, losses_of(grid, {placement, layers, warmup}));
    });
    return chart;
  });
}

kit::Panels largest_by_depth(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  return label_once(panels("Largest rate that trains against depth", grid.warmups, [&](std::int64_t warmup) {
    LineChart chart = by_depth(grid, warmup, "largest rate that trains");
    chart.y_axis = AxisKind::log;
    chart.series = lines(kPlacements, grid.depths, [&](const std::string& placement, std::int64_t layers) {
      return largest(results, {placement, layers, warmup});
    });
    chart.references = {{.at = grid.lrs.front(), .label = "lowest tried"}};
    return chart;
  }));
}

kit::Panels loss_by_warmup(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  return label_once(panels("Loss at the best rate against warm-up", grid.depths, [&](std::int64_t layers) {
    const auto losses = [&](const std::string& placement, std::int64_t warmup) {
      return best_of(results, losses_of(grid, {placement, layers, warmup})).values;
    };
    return LineChart{.title = counted(layers, "layer"),
                     .x_label = "steps of warm-up",
                     .y_label = "loss at the best rate (nats per character)",
                     .x_ticks = as_doubles(grid.warmups),
                     .series = lines(kPlacements, grid.warmups, losses),
                     .references = {{.at = learned_loss(), .label = "best n-gram"}}};
  }));
}

kit::Panels curves_of_best(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  return label_once(
      panels("Training loss at the best rate and warm-up", grid.depths, [&](std::int64_t layers) {
        const auto losses = [&](const std::string& placement) {
          const Found best = best_of(results, losses_of(grid, placement, layers, grid.warmups));
          return curves_at_best(results, best, "losses");
        };
        return LineChart{
            .title = counted(layers, "layer"),
            .x_label = "step",
            .y_label = "training loss (nats per character)",
            .x_low = 0,
            .x_high = static_cast<double>(grid.steps),
            .series = lines_of_curves(kPlacements, losses, middles_of_slices(grid.steps, kSlices)),
            .references = {{.at = target_loss(), .label = "target"}}};
      }));
}

}  // namespace gradus::lab::rates
