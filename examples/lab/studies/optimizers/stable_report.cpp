// The part of the page of `optimizers` on the largest stable rates.

#include <fmt/format.h>

#include "lab/statistics/outcomes.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/optimizers/stable.h"

namespace gradus::lab::optimizers {

namespace {

/// "0.03", or how far a climb has come.
std::string describe_rate(const Stable& stable, bool warm) {
  if (!stable.climbed(warm).ended) return "not finished";
  const std::optional<double> lr = stable.rate(warm);
  if (!lr) return "none";
  return kit::number_text(*lr) + (stable.climbed(warm).at_edge() ? ", at the edge" : "");
}

/// A row for each judged design of an arm, with failed and surviving runs separate.
void add_rows(kit::Table& table, const StableGrid& grid, const Stable& stable) {
  for (const StableDesign& design : stable.judged()) {
    const std::vector<double> losses = finite(stable.losses(design));
    if (losses.empty()) continue;
    const Survival survival = survival_of(losses, recall_task().context_free_loss());
    table.rows.push_back({stable.arm().described(design.warm), kit::number_text(design.lr),
                          fmt::format("{} of {}", survival.failed, survival.runs),
                          mean_and_range(survival.surviving), mean_and_range(stable.sharpness(design, 0)),
                          mean_and_range(stable.sharpness(design, grid.end_of_warmup())),
                          kit::number_text(stable_below(design.lr), 3)});
  }
}

kit::Panels curves_of(const StudyResults& results, const StableGrid& grid) {
  return panels("Sharpness of runs that survive", grid.arms, [&](const StableArm& arm) {
    const Stable stable(results, grid, arm);
    kit::LineChart chart{.title = arm.title,
                         .x_label = "step",
                         .y_label = "largest eigenvalue of the Hessian",
                         .y_axis = kit::AxisKind::log};
    for (const StableDesign& design : stable.judged()) {
      const bool own = stable.rate(design.warm) == design.lr;
      std::vector<std::vector<double>> by_step;
      for (std::size_t place = 0; place < grid.curve_steps.size(); ++place)
        by_step.push_back(stable.sharpness(design, place));
      kit::Series line =
          band(fmt::format("{}, {} largest rate", design.warm ? "with warm-up" : "without warm-up",
                           own ? "its" : "the other's"),
               as_doubles(grid.curve_steps), by_step, (design.warm ? 1 : 0) + (own ? 0 : 2));
      if (!line.x.empty()) chart.series.push_back(std::move(line));
    }
    return chart;
  });
}

}  // namespace

void report_stable(Page& page, const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  page.html.heading("Curvature of runs that survive");
  page.html.paragraph(fmt::format(
      "Momentum SGD with {} layers, {} steps. For each arm all searching seeds ({}) try the rates from {} "
      "up, "
      "a quarter of a decade apart, until more than half of them fail; its largest stable rate is the last "
      "before the first at which one fails. Other seeds ({}) judge it. The curvature of failed runs enters "
      "no figure. DeepNorm and Admin are controls: they are made for training without warm-up, so by the "
      "claim their curvature must not be too high for their rate at the start.",
      grid.layers, grid.steps, grid.searching.size(), kit::number_text(grid.ladder.front()),
      grid.judging.size()));
  kit::Table rates{.caption = "The largest stable rate",
                   .header = {"Placement", "Without warm-up", "With warm-up"}};
  kit::Table judged{.caption = "On the judging seeds: mean (lowest to highest) of surviving runs",
                    .header = {"", "Rate", "Failed", "Final loss", "Sharpness, start",
                               "Sharpness, end of warm-up", "Stable below"}};
  for (const StableArm& arm : grid.arms) {
    const Stable stable(results, grid, arm);
    rates.rows.push_back(
        {arm.title, describe_rate(stable, false), arm.control ? "\u2013" : describe_rate(stable, true)});
    add_rows(judged, grid, stable);
  }
  page.html.table(rates);
  if (!judged.rows.empty()) page.html.table(judged);
  page.figure("stable_sharpness", curves_of(results, grid),
              fmt::format("Without and with warm-up, each at its largest stable rate and at that of the "
                          "other; the rates are in the table. Failed runs are left out. {}",
                          describe_bands(grid.judging.size())));
}

}  // namespace gradus::lab::optimizers
