// The page of the study `depth-48`: the search, and the answer in figures.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/depth_48/depth_48.h"
#include "lab/study/outcome.h"

namespace gradus::lab::depth_48 {

namespace {

using kit::fixed_text;
using kit::number_text;

std::vector<double> finished_losses(const StudyResults& results, const Grid& grid, std::size_t placement,
                                    const Design& design) {
  std::vector<double> losses;
  for (const std::uint64_t seed : grid.seeds)
    losses.push_back(results.number(run_name(placement, design, seed), "loss"));
  return finite(losses);
}

std::int64_t trained(const std::vector<double>& losses) {
  return std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); });
}

std::string design_words(const Grid& grid, const Design& design) {
  if (design.warmup == 0)
    return fmt::format("no warm-up, a rate of {} from the first step", number_text(design.lr));
  const double share = static_cast<double>(design.warmup) / static_cast<double>(grid.steps);
  return fmt::format("a warm-up of {} steps, {}% of the run, to a rate of {}", design.warmup,
                     fixed_text(100 * share, 0), number_text(design.lr));
}

/// How many of the designs trained, and how many on all seeds.
std::string map_words(const StudyResults& results, const Grid& grid, std::size_t placement) {
  std::size_t some = 0, all = 0;
  for (const Design& design : grid.designs()) {
    const std::vector<double> losses = finished_losses(results, grid, placement, design);
    const auto count = static_cast<std::size_t>(trained(losses));
    if (count > 0) ++some;
    if (count > 0 && count == grid.seeds.size()) ++all;
  }
  return fmt::format(
      "Of {} designs {} train on some seed and {} on all. Means over seeds; the frame is around the best, "
      "dark is low, crossed out is not run yet.",
      grid.designs().size(), some, all);
}

kit::HeatMap map_of(const StudyResults& results, const Grid& grid, std::size_t placement) {
  kit::HeatMap map{.title = fmt::format("{}, {} layers: mean loss", kPlacements[placement], grid.layers),
                   .x_label = "rate",
                   .y_label = "steps of warm-up",
                   .value_label = "nats per character",
                   .decimals = 3,
                   .low_is_good = true,
                   .best = *recall_task().entropy(),  // the same shades in both maps
                   .worst = recall_task().context_free_loss()};
  for (const double lr : grid.lrs) map.columns.push_back(number_text(lr));
  for (const std::int64_t warmup : grid.warmups) {
    map.rows.push_back(std::to_string(warmup));
    for (const double lr : grid.lrs)
      map.values.push_back(mean(finished_losses(results, grid, placement, {warmup, lr})));
  }
  return map;
}

std::string answer_words(const StudyResults& results, const Grid& grid, std::size_t placement) {
  const std::optional<Design> design = answer(results, placement);
  if (!design) return fmt::format("{}: the search has not finished.", kPlacements[placement]);
  const std::vector<double> losses = finished_losses(results, grid, placement, *design);
  std::string words =
      fmt::format("**{}**: {}. Loss {}; it trained on {} of {} seeds.", kPlacements[placement],
                  design_words(grid, *design), mean_and_range(losses), trained(losses), losses.size());
  if (trained(losses) == 0)
    words += " None of the designs tried is one: the least of losses that are all bad.";
  const bool edge = design->lr == grid.lrs.front() || design->lr == grid.lrs.back() ||
                    design->warmup == grid.warmups.back();
  if (edge) words += " It lies at the edge of what was tried: better ones may lie beyond.";
  return words;
}

/// Losses of what the other seeds chose, judged on each seed.
std::vector<double> judged(const StudyResults& results, const Grid& grid, std::size_t placement,
                           Among among) {
  std::vector<double> losses;
  for (const std::uint64_t seed : grid.seeds)
    if (const auto choice = chosen(results, placement, among, seed)) losses.push_back(choice->loss);
  return losses;
}

kit::Table judged_table(const StudyResults& results, const Grid& grid) {
  kit::Table table{
      "What the search finds, judged on the seed that had no say in it (nats per character)",
      {"", "Designs tried", "Best without warm-up", "Best with warm-up", "Best of all", "Seeds that train"},
      {}};
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    const std::vector<double> all = judged(results, grid, placement, Among::all);
    table.rows.push_back({kPlacements[placement], std::to_string(grid.designs().size()),
                          mean_and_range(judged(results, grid, placement, Among::cold)),
                          mean_and_range(judged(results, grid, placement, Among::warm)), mean_and_range(all),
                          fmt::format("{} of {}", trained(all), all.size())});
  }
  return table;
}

kit::Panels curves(const StudyResults& results, const Grid& grid) {
  kit::Panels panels{.title = "Training loss by warm-up, each at its best rate"};
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    kit::LineChart chart{.title = kPlacements[placement],
                         .x_label = "step",
                         .y_label = "training loss (nats per character)",
                         .x_low = 0,
                         .x_high = static_cast<double>(grid.steps)};
    int style = 0;
    for (const std::int64_t warmup : grid.warmups) {
      const auto loss_at = [&](double lr) {
        const double loss = mean(finished_losses(results, grid, placement, {warmup, lr}));
        return std::isnan(loss) ? 1e9 : loss;
      };
      const double lr = *std::min_element(grid.lrs.begin(), grid.lrs.end(),
                                          [&](double a, double b) { return loss_at(a) < loss_at(b); });
      std::vector<std::vector<double>> all;
      std::vector<double> x;
      for (const std::uint64_t seed : grid.seeds) {
        all.push_back(results.series(run_name(placement, {warmup, lr}, seed), "losses"));
        x.resize(std::max(x.size(), all.back().size()));
      }
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] =
            (static_cast<double>(i) + 0.5) * static_cast<double>(grid.steps) / static_cast<double>(x.size());
      chart.series.push_back(
          band_of_curves(warmup == 0 ? "no warm-up" : fmt::format("warm-up {}", warmup), all, style++, x));
    }
    chart.references.push_back({.at = learned_loss(), .label = placement == 0 ? "best n-gram" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
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
      "Every warm-up with every rate, the same for both placements. The loss of a search's winner "
      "is too good on the seeds that chose it; so for each seed the design is chosen that was best "
      "on average over the other seeds, and judged on this one (leave-one-out cross-validation, "
      "Stone 1974). A run trained when it ended below {}, the loss of the best n-gram.",
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
    answers.push_back(answer_words(results, grid, placement));
  page.html.list(answers);
  page.html.table(judged_table(results, grid));
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
    page.figure("map-" + kWords[placement], map_of(results, grid, placement),
                map_words(results, grid, placement));
  page.figure("curves", curves(results, grid),
              "Each warm-up at the rate with the least mean loss. " + band_words(grid.seeds.size()));
  page.html.heading("What this does not show");
  page.html.list(
      {fmt::format(
           "**A recipe for other sizes.** Rates and lengths are those of width 32 and {} steps; read the "
           "shares of the run and the direction, not the numbers.",
           grid.steps),
       "**Other shapes.** Only a linear rise to a rate that stays: no decay, no inverse square root.",
       "**Other remedies.** DeepNorm, which was made for such depths, and others are in `placements`.",
       "**Long training.** A design that needs thousands of steps does not train here."});
}

}  // namespace gradus::lab::depth_48
