// The page of the study `best`: the searches, their choices, and the results on other seeds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/best/best.h"
#include "lab/studies/charts.h"
#include "lab/training/weights.h"

namespace gradus::lab::best {

namespace {

using kit::fixed_text;
using kit::number_text;

std::vector<Found> all_found(const StudyResults& results, const Grid& grid) {
  std::vector<Found> found;
  for (const Arm& arm : grid.arms()) found.emplace_back(results, grid, arm);
  return found;
}

std::string describe_design(const Design& design) {
  return fmt::format("{}, rate {}, {}", weight_scheme(design.scheme).title, number_text(design.lr),
                     describe_warmup(design.warmup));
}

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The setting");
  std::vector<std::string> titles;
  for (const std::string& scheme : grid.schemes) titles.emplace_back(weight_scheme(scheme).title);
  page.html.key_values(
      "Settings of all runs",
      {{"model", "GPT, d_model 32, 4 heads, final norm as in each placement"},
       {"task", "recall language, 32 characters, 10 boxes of 5 things, a chain of two"},
       {"optimizer", "Adam, betas 0.9 and 0.999, no decay, no clipping; constant, or after a linear warm-up"},
       {"steps and batch", fmt::format("{} steps of 4 lines", grid.steps)},
       {"layers", listed(grid.depths)},
       {"initial weights", listed(titles)},
       {"steps of warm-up", listed(std::vector<std::int64_t>(grid.warmups.begin(), grid.warmups.end()))},
       {"rates",
        listed(std::vector<double>(grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.first),
                                   grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.last) + 1))},
       {"rates beyond, where the best is at an edge",
        fmt::format("{} to {}", number_text(grid.ladder.front()), number_text(grid.ladder.back()))},
       {"searching seeds, judging seeds",
        fmt::format("{}, {}", grid.searching.size(), grid.judging.size())}});
  page.html.paragraph(fmt::format(
      "The search was fixed before its first run: for each placement, depth and warm-up all settings are run "
      "on one seed, and the best of them on the next, {} in turn, by the mean over the seeds so far. The "
      "judging seeds had no part in it. A run **fails** when it ends at {} or above, the loss of predicting "
      "without context; it **trains** when it ends below {}, that of the best n-gram; its target is {}, "
      "half-way from there to {}, the loss of the language itself.",
      listed(std::vector<std::int64_t>(grid.kept.begin(), grid.kept.end())),
      fixed_text(task().context_free_loss(), 3), fixed_text(learned_loss(), 3), fixed_text(target_loss(), 3),
      fixed_text(task().entropy().value(), 3)));
  page.html.paragraph(
      "Failed runs enter no figure: a seed on which one of the compared runs failed is left out of "
      "differences and sensitivity, the headroom is that of surviving runs, and the shares of failed runs "
      "are in a separate table. An arm none of whose runs trains is not compared. These two rules, unlike "
      "the bands, were made stricter after the first runs of the search. The claims have four measures and "
      "more, so the share of ten seeds is decided only if all ten agree, and that of five never is.");
}

kit::Table search_table(const std::vector<Found>& all, const Grid& grid) {
  kit::Table table{
      .caption = "The choices of the searches",
      .header = {"", "Warm-up", "Runs", "Initial weights", "Rate", "Mean loss, searching", "At an edge"}};
  for (const Found& found : all)
    for (std::size_t warmup = 0; warmup < grid.warmups.size(); ++warmup) {
      const Searched& searched = found.searched(warmup);
      const std::optional<Design> design = found.chosen(warmup);
      table.rows.push_back({found.arm().title(), std::to_string(grid.warmups[warmup]),
                            std::to_string(searched.runs.size()),
                            design ? weight_scheme(design->scheme).title : "not finished",
                            design ? number_text(design->lr) : "", design ? nats(searched.mean) : "",
                            !design            ? ""
                            : searched.at_edge ? "yes"
                                               : "no"});
    }
  return table;
}

/// The best design on the judging seeds, with failed and surviving runs separate.
kit::Table judged_table(const std::vector<Found>& all) {
  kit::Table table{
      .caption = "The best design on the judging seeds",
      .header = {"", "Best", "Failed", "95% interval", "Loss of the others", "Train", "Reach the target"}};
  for (const Found& found : all) {
    if (!found.best()) continue;
    const Design design = *found.chosen(*found.best());
    const std::vector<double> losses = finite(found.best_losses());
    if (losses.empty()) continue;
    const Survival survival = survival_of(losses, task().context_free_loss());
    const auto train =
        std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); });
    table.rows.push_back(
        {found.arm().title(), describe_design(design),
         fmt::format("{} of {}", survival.failed, survival.runs),
         fmt::format("{} to {}", number_text(survival.share.low, 2), number_text(survival.share.high, 2)),
         mean_and_range(survival.surviving), fmt::format("{} of {}", train, losses.size()),
         fmt::format("{} of {}", reached_of(found.numbers(design, "steps")).reached, losses.size())});
  }
  return table;
}

/// Failed runs of the judging seeds at the chosen designs and at each rate of the sweep.
kit::Table failed_table(const std::vector<Found>& all) {
  kit::Table table{
      .caption = "Failed runs on the judging seeds",
      .header = {"", "Best without warm-up", "Best with warm-up", "By rate, at the best weights"}};
  const auto count = [](const std::vector<double>& losses) {
    const Survival survival = survival_of(finite(losses), task().context_free_loss());
    return survival.runs == 0 ? "\u2013" : fmt::format("{} of {}", survival.failed, survival.runs);
  };
  for (const Found& found : all) {
    if (!found.best() || finite(found.best_losses()).empty()) continue;
    const std::vector<double> rates = found.sweep();
    const std::vector<std::vector<double>> swept = found.swept("loss");
    std::string shares;
    for (std::size_t i = 0; i < rates.size(); ++i)
      shares += fmt::format("{}{}: {}", i == 0 ? "" : ", ", number_text(rates[i]), count(swept[i]));
    table.rows.push_back({found.arm().title(), count(found.losses(0)), count(found.losses(1)),
                          shares.empty() ? "\u2013" : shares});
  }
  return table;
}

kit::Panels loss_by_rate(const std::vector<Found>& all, const Grid& grid) {
  kit::Panels panels{.title = "Loss against rate, each at its best initial weights and warm-up"};
  for (const std::int64_t layers : grid.depths) {
    kit::LineChart chart{.title = counted(layers, "layer"),
                         .x_label = "learning rate",
                         .y_label = "nats per character",
                         .x_axis = kit::AxisKind::log,
                         .x_ticks = {1e-4, 1e-3, 1e-2}};
    for (const Found& found : all)
      if (found.arm().layers == layers && found.best()) {
        std::vector<std::vector<double>> losses = found.swept("loss");
        for (std::vector<double>& at_rate : losses) at_rate = without_failed(at_rate);
        kit::Series line = band(kPlacements[found.arm().placement], found.sweep(), losses,
                                static_cast<int>(found.arm().placement));
        line.spread = kit::Spread::error_bars;
        if (!line.x.empty()) chart.series.push_back(std::move(line));
      }
    if (chart.series.empty()) continue;
    chart.references.push_back({.at = learned_loss(), .label = panels.panels.empty() ? "best n-gram" : ""});
    chart.references.push_back(
        {.at = task().entropy().value(), .label = panels.panels.empty() ? "language" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

/// The share of seeds that have not reached the target: a curve that need not come down to 0.
kit::Panels not_reached(const std::vector<Found>& all, const Grid& grid) {
  kit::Panels panels{.title = "Seeds that have not reached the target yet, each at its best"};
  for (const std::int64_t layers : grid.depths) {
    kit::LineChart chart{.title = counted(layers, "layer"),
                         .x_label = "step",
                         .y_label = "share of seeds",
                         .x_low = 0,
                         .x_high = static_cast<double>(grid.steps),
                         .y_low = 0,
                         .y_high = 1};
    for (const Found& found : all) {
      if (found.arm().layers != layers || !found.best() || finite(found.best_losses()).empty()) continue;
      const Reached reached = reached_of(found.numbers(*found.chosen(*found.best()), "steps"));
      kit::Series line{.name = kPlacements[found.arm().placement],
                       .markers = false,
                       .style = static_cast<int>(found.arm().placement)};
      for (std::int64_t step = 0; step <= grid.steps; step += std::max<std::int64_t>(1, grid.steps / 100)) {
        line.x.push_back(static_cast<double>(step));
        line.y.push_back(reached.open_after(static_cast<double>(step)));
      }
      chart.series.push_back(std::move(line));
    }
    if (!chart.series.empty()) panels.panels.push_back(std::move(chart));
  }
  return panels;
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const std::vector<Found> all = all_found(results, grid);
  add_setting(page, grid);
  page.html.heading("The searches");
  page.html.table(search_table(all, grid));
  page.html.heading("Results on the judging seeds");
  for (const kit::Table& table : {judged_table(all), failed_table(all)})
    if (!table.rows.empty()) page.html.table(table);
  if (const kit::Panels panels = loss_by_rate(all, grid); !panels.panels.empty())
    page.figure(
        "loss", panels,
        "Points are means over the judging seeds whose runs did not fail; bars range from the lowest to "
        "the highest. The shares of failed runs are in the table. Higher rates follow the grid's last "
        "one as long as more than half of the seeds train.");
  if (const kit::Panels panels = not_reached(all, grid); !panels.panels.empty())
    page.figure("reached", panels,
                "A line that ends above 0 includes runs that do not reach the target within the steps: they "
                "have no number of steps and enter no mean or ratio.");
  page.limits(
      {fmt::format(
           "**The best of all settings.** On the first searching seed alone {} settings become {}: one "
           "that is unlucky there is lost. The search compares means that include failed runs.",
           grid.schemes.size() * (grid.last - grid.first + 1), grid.kept.front()),
       "**Equal warm-ups.** All rates are run at the initial weights and the warm-up that are best for each "
       "placement: sensitivity and the largest rate compare placements at different warm-ups where their "
       "choices differ.",
       "**An unbiased sensitivity.** Its minimum over rates is taken on the judging seeds themselves, and "
       "the lowest of several noisy losses looks lower than it is. It compares only seeds on which neither "
       "placement fails at any of the rates.",
       "**Seeds that fail.** Differences are those of the surviving runs; they do not say what a failed run "
       "would have ended at.",
       "**Recall by every run that trains.** The best n-gram is at most a 4-gram counted on a limited text: "
       "a model that learns 4-grams better ends below it without recalling the content of any box.",
       "**Other sizes.** Width 32: whether the difference grows with width is a separate question.",
       "**Other tasks.** A small language; real text is in `text`.",
       "**Every setting.** Three kinds of initial weights, a warm-up of a quarter of the run, a "
       "constant rate after it, Adam with one pair of betas.",
       "**Long training.** A model that needs more steps than these does not show here that it catches up."});
}

}  // namespace gradus::lab::best
