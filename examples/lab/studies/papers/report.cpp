// The page of the study `papers`: the searches, the arms on other seeds, and the insides of trained models.

#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/best/best.h"
#include "lab/studies/charts.h"
#include "lab/studies/papers/keys.h"
#include "lab/studies/papers/papers.h"

namespace gradus::lab::papers {

namespace {

using kit::fixed_text;
using kit::number_text;

std::vector<ArmResults> all_results(const StudyResults& results, const Grid& grid) {
  std::vector<ArmResults> all;
  for (const Arm& arm : grid.arms) all.emplace_back(results, grid, arm);
  return all;
}

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The setting");
  page.html.paragraph(fmt::format(
      "Models have 32 channels and 4 heads. The task is that of the study `best`: the recall language, 32 "
      "characters, 10 boxes of 5 things, a chain of two; {} steps of 4 lines, Adam, no clipping. Initial "
      "weights are Xavier's, except for DeepNorm, Fixup and T-Fixup, which have their own. Each arm is "
      "searched on {}, over rates and, where its name says nothing else, without warm-up and with {} steps "
      "of "
      "it (100 layers: only with); {} others judge its choice. A run **fails** when it ends at {} or above, "
      "the loss of predicting without context; it **trains** when it ends below {}, that of the best n-gram; "
      "the loss of the language itself is {}.",
      grid.steps, count_seeds(grid.searching.size()), grid.warmups[1], grid.judging.size(),
      fixed_text(best::task().context_free_loss(), 3), fixed_text(best::learned_loss(), 3),
      fixed_text(best::task().entropy().value(), 3)));
}

kit::Table arms_table(const std::vector<ArmResults>& all) {
  kit::Table table{.caption = "Each arm at its best, on the judging seeds",
                   .header = {"", "Runs of the search", "Rate", "Warm-up", "At an edge", "Failed",
                              "Loss of the others", "Train"}};
  for (const ArmResults& one : all) {
    std::vector<std::string> row = {one.arm().title, std::to_string(one.searched().runs.size())};
    if (const std::optional<Design> design = one.chosen()) {
      const std::vector<double> losses = finite(one.losses());
      const Survival survival = survival_of(losses, best::task().context_free_loss());
      const auto train = std::count_if(losses.begin(), losses.end(),
                                       [](double loss) { return loss < best::learned_loss(); });
      row.insert(row.end(),
                 {number_text(design->lr), std::to_string(design->warmup), one.at_edge() ? "yes" : "no",
                  fmt::format("{} of {}", survival.failed, survival.runs), mean_and_range(survival.surviving),
                  fmt::format("{} of {}", train, losses.size())});
    } else {
      row.insert(row.end(), {"not finished", "", "", "", "", ""});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Bars of one depth, in the order of their losses.
void add_losses(Page& page, const std::vector<ArmResults>& all) {
  for (const std::int64_t layers : {6, 18, 100}) {
    std::vector<std::pair<double, const ArmResults*>> order;
    for (const ArmResults& one : all) {
      const std::vector<double> losses = finite(best::without_failed(one.losses()));
      if (one.arm().layers == layers && !losses.empty()) order.emplace_back(mean(losses), &one);
    }
    if (order.empty()) continue;
    std::sort(order.begin(), order.end());
    kit::BarChart chart{.title = fmt::format("Loss at the best settings, {} layers", layers),
                        .value_label = "nats per character above the language's entropy",
                        .decimals = 3};
    kit::BarSeries bars;
    for (const auto& [loss, one] : order) {
      std::vector<double> above = finite(best::without_failed(one->losses()));
      for (double& value : above) value -= best::task().entropy().value();
      chart.categories.push_back(one->arm().title.substr(0, one->arm().title.rfind(',')));
      add_bar(bars, above);
    }
    chart.series = {bars};
    page.figure(fmt::format("losses-L{}", layers), chart,
                "Bars are means over the judging seeds whose runs did not fail; error bars range from the "
                "lowest to the highest. An arm all of whose runs fail has no bar: see the table.");
  }
}

std::vector<const ArmResults*> looked_into_arms(const std::vector<ArmResults>& all) {
  std::vector<const ArmResults*> some;
  for (const ArmResults& one : all)
    if (one.arm().looked_into) some.push_back(&one);
  return some;
}

/// A line for each arm that was looked into, over its blocks.
std::vector<kit::Series> by_block(const std::vector<ArmResults>& all, const char* series) {
  std::vector<kit::Series> drawn;
  int style = 0;
  for (const ArmResults* one : looked_into_arms(all)) {
    kit::Series line = band_of_curves(one->arm().title, one->curves(series), style++);
    if (!line.x.empty()) drawn.push_back(std::move(line));
  }
  return drawn;
}

void add_insides(Page& page, const std::vector<ArmResults>& all) {
  kit::Panels sizes{.title = "The size of the stream after each block"};
  for (const auto& [series, title] :
       {std::pair("sizes-start", "before training"), std::pair("sizes", "after training")}) {
    kit::LineChart chart{
        .title = title, .x_label = "block", .y_label = "mean of |x|^2 / d", .y_axis = kit::AxisKind::log};
    chart.series = by_block(all, series);
    if (!chart.series.empty()) sizes.panels.push_back(std::move(chart));
  }
  kit::LineChart drop{.title = "What dropping one block adds to the loss",
                      .x_label = "block",
                      .y_label = "nats per character"};
  drop.series = by_block(all, "drop");
  if (sizes.panels.empty() && drop.series.empty()) return;
  page.html.heading("Inside trained models");
  const std::string bands =
      "Lines are means over the judging seeds; bands range from the lowest to the highest.";
  page.figure("sizes", sizes, bands);
  page.figure("drop", drop, bands);
}

void add_keys(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("Keys that no query can select");
  page.html.paragraph(fmt::format(
      "Models of 2 blocks, 8 channels and one head, trained for {} steps on lines of 64 characters, once "
      "with "
      "LayerNorm and once without its division by the deviation. A key inside the convex hull of the others "
      "has the highest score for no query.",
      grid.key_steps));
  kit::Table table{.caption = "Share of unselectable keys, mean over layers and lines",
                   .header = {"", "Before training", "After training", "Loss"}};
  for (const KeyKind& kind : key_kinds()) {
    const Runs runs = keys_runs(results, grid.judging, kind);
    table.rows.push_back({kind.title, mean_and_range(runs.numbers("start")),
                          mean_and_range(runs.numbers("unselectable")),
                          mean_and_range(runs.numbers("loss"))});
  }
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const std::vector<ArmResults> all = all_results(results, grid);
  add_setting(page, grid);
  page.html.heading("The arms");
  page.html.table(arms_table(all));
  add_losses(page, all);
  add_insides(page, all);
  add_keys(page, results, grid);
  page.limits(
      {"**The papers' figures.** Most are BLEU of translation models of 512 channels, or perplexities of "
       "models of 10^8 parameters and more: only the sign can be compared.",
       "**Other initial weights.** An arm is at its best rate and warm-up, not at its best initial weights: "
       "with smaller ones Post-LN may train at these depths.",
       "**The papers' implementations.** Fixup's head does not start at 0, since it is tied to the "
       "embedding; "
       "in attention it scales values, where the authors' code scales queries and keys, too; T-Fixup's "
       "factors are those of an encoder, and its embeddings are not scaled.",
       "**Recall by every run that trains.** The best n-gram is at most a 4-gram counted on a limited text.",
       "**Long training.** A model that needs more steps than these does not show here that it catches up.",
       "**A search without luck.** Three seeds search; a setting that is unlucky on the first is lost."});
}

}  // namespace gradus::lab::papers
