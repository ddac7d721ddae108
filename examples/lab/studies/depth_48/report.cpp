// The page of the study `depth-48`: the search, and the answer in figures.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/depth_48/depth_48.h"
#include "lab/study/outcome.h"

namespace gradus::lab::depth_48 {

namespace {

using kit::fixed_text;
using kit::number_text;

std::vector<double> finished_losses(const StudyResults& results, const Grid& grid, std::size_t placement,
                                    const Design& design) {
  return finite(at_rate(results, grid.search(placement, design.warmup), design.lr));
}

std::int64_t trained(const std::vector<double>& losses) {
  return std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); });
}

std::string describe_design(const Grid& grid, const Design& design) {
  if (design.warmup == 0)
    return fmt::format("no warm-up, a rate of {} from the first step", number_text(design.lr));
  const double share = static_cast<double>(design.warmup) / static_cast<double>(grid.steps);
  return fmt::format("a warm-up of {} steps, {}% of the run, to a rate of {}", design.warmup,
                     fixed_text(100 * share, 0), number_text(design.lr));
}

void add_map(Page& page, const StudyResults& results, const Grid& grid, std::size_t placement) {
  const auto losses = [&](std::int64_t warmup, double lr) {
    return finished_losses(results, grid, placement, {warmup, lr});
  };
  std::size_t some = 0, all = 0;
  for (const Design& design : grid.designs()) {
    const auto count = static_cast<std::size_t>(trained(losses(design.warmup, design.lr)));
    if (count > 0) ++some;
    if (count == grid.seeds.size()) ++all;
  }
  kit::HeatMap map{.title = fmt::format("{}, {} layers: mean loss", kPlacements[placement], grid.layers),
                   .x_label = "rate",
                   .y_label = "steps of warm-up",
                   .value_label = "nats per character",
                   .decimals = 3,
                   .low_is_good = true,
                   .best = *recall_task().entropy(),  // the same shades in both maps
                   .worst = recall_task().context_free_loss()};
  map = filled(map, grid.warmups, grid.lrs,
               [&](std::int64_t warmup, double lr) { return mean(losses(warmup, lr)); });
  for (std::size_t i = 0; i < map.rows.size(); ++i) map.rows[i] = std::to_string(grid.warmups[i]);
  page.figure(
      "map-" + kWords[placement], map,
      fmt::format("Of {} designs, {} train on at least one seed and {} on all. Means over seeds; the frame "
                  "marks the best; dark is low; cells not run yet are crossed out.",
                  grid.designs().size(), some, all));
}

std::string describe_answer(const StudyResults& results, const Grid& grid, std::size_t placement) {
  const std::optional<Design> design = answer(results, placement);
  if (!design) return fmt::format("{}: the search has not finished.", kPlacements[placement]);
  const std::vector<double> losses = finished_losses(results, grid, placement, *design);
  std::string words =
      fmt::format("**{}**: {}. Loss {}; it trained on {} of {} seeds.", kPlacements[placement],
                  describe_design(grid, *design), mean_and_range(losses), trained(losses), losses.size());
  if (trained(losses) == 0)
    words += " None of the designs tried works: this is the lowest of losses that are all bad.";
  const bool edge = design->lr == grid.lrs.front() || design->lr == grid.lrs.back() ||
                    design->warmup == grid.warmups.back();
  if (edge) words += " It is at an edge of the search: better ones may lie outside.";
  return words;
}

kit::Table judged_table(const StudyResults& results, const Grid& grid) {
  kit::Table table{
      "Result of the search, judged on the seed that took no part in it (nats per character)",
      {"", "Designs tried", "Best without warm-up", "Best with warm-up", "Best of all", "Seeds that train"},
      {}};
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    const auto losses = [&](Among among) { return finite(chosen(results, placement, among).values); };
    const std::vector<double> all = losses(Among::all);
    table.rows.push_back({kPlacements[placement], std::to_string(grid.designs().size()),
                          mean_and_range(losses(Among::cold)), mean_and_range(losses(Among::warm)),
                          mean_and_range(all), fmt::format("{} of {}", trained(all), all.size())});
  }
  return table;
}

/// A panel for each placement, a line for each warm-up at the rate with the lowest mean loss.
kit::Panels curves(const StudyResults& results, const Grid& grid) {
  kit::Panels both{.title = "Training loss by warm-up, each at its best rate"};
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    kit::LineChart chart{.title = kPlacements[placement],
                         .x_label = "step",
                         .y_label = "training loss (nats per character)",
                         .x_low = 0,
                         .x_high = static_cast<double>(grid.steps),
                         .references = {{.at = learned_loss(), .label = "best n-gram"}}};
    int style = 0;
    for (const std::int64_t warmup : grid.warmups) {
      const std::vector<double> means = means_by_rate(results, grid.search(placement, warmup));
      const auto least = std::min_element(means.begin(), means.end(), [](double a, double b) {
        return !std::isnan(a) && (std::isnan(b) || a < b);
      });
      const double lr = grid.lrs[static_cast<std::size_t>(least - means.begin())];
      const auto all = Runs(results, grid.seeds, [&](std::uint64_t seed) {
                         return run_name(placement, {warmup, lr}, seed);
                       }).curves("losses");
      chart.series.push_back(band_of_curves(warmup == 0 ? "no warm-up" : fmt::format("warm-up {}", warmup),
                                            all, style++, middles_of_slices(grid.steps, longest(all))));
    }
    both.panels.push_back(std::move(chart));
  }
  return label_once(both);
}

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The search");
  page.html.key_values(
      "Settings of all runs",
      {{"model", fmt::format("GPT, {} layers, d_model 32, 4 heads, N(0, 1/fan_in)", grid.layers)},
       {"task", "recall language, 32 characters, vocabulary 29"},
       {"optimizer", "Adam, betas 0.9 and 0.999; linear warm-up, then constant; no clipping"},
       {"steps and batch", fmt::format("{} steps of 8 lines", grid.steps)},
       {"steps of warm-up", listed(grid.warmups)},
       {"rates", listed(grid.lrs)},
       {"tries", fmt::format("{} for each placement", grid.designs().size())},
       {"seeds", std::to_string(grid.seeds.size())}});
  page.html.paragraph(fmt::format(
      "Every warm-up is tried with every rate, the same for both placements. The loss of a search's winner "
      "is too good on the seeds that chose it; so the design is chosen for each seed that was best on "
      "average over the other seeds, and judged on this one (leave-one-out cross-validation, Stone 1974). A "
      "run trained when it ended below {}, the loss of the best n-gram.",
      fixed_text(learned_loss(), 3)));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_setting(page, grid);
  if (results.options.budget == Budget::quick)
    page.html.paragraph(fmt::format(
        "The quick form shows how the search works, with {} layers: 48 take longer.", grid.layers));
  page.html.heading("The answer");
  std::vector<std::string> answers;
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
    answers.push_back(describe_answer(results, grid, placement));
  page.html.list(answers);
  page.html.table(judged_table(results, grid));
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
    add_map(page, results, grid, placement);
  page.figure(
      "curves", curves(results, grid),
      "Each warm-up is drawn at the rate with the lowest mean loss. " + describe_bands(grid.seeds.size()));
  page.limits(
      {fmt::format("**A recipe for other sizes.** Rates and lengths are those of width 32 and {} steps; read "
                   "the shares of the run and the direction, not the numbers.",
                   grid.steps),
       "**Other shapes.** Only a linear rise to a constant rate: no decay, no inverse square root.",
       "**Other remedies.** DeepNorm, which was designed for such depths, and others are in `placements`.",
       "**Long training.** A design that needs thousands of steps does not train here."});
}

}  // namespace gradus::lab::depth_48
