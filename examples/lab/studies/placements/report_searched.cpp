// The page's sections on the comparisons whose arms are searched.

#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/placements/searched.h"
#include "lab/studies/search.h"

namespace gradus::lab::placements {

namespace {

using kit::fixed_text;
using kit::number_text;

/// The settings that both sections share.
std::string describe_searches(const Comparison& comparison) {
  const std::vector<double> rates(
      comparison.ladder.begin() + static_cast<std::ptrdiff_t>(comparison.first),
      comparison.ladder.begin() + static_cast<std::ptrdiff_t>(comparison.last) + 1);
  return fmt::format(
      "Each placement is searched over its initial weights and the rates {}, and beyond where the best is "
      "the "
      "first or last ({} to {}): all settings on one seed, then the best {} on one more seed each. {} other "
      "seeds judge the choice. DeepNorm has its paper's matrices, and LN-Scaling, whose paper leaves out "
      "smaller "
      "projections into the stream, N(0, 1/fan_in) or Xavier's. ReZero's zeros and Admin's shortcuts are "
      "their "
      "papers' as well. The rate rises over the first tenth of the {} steps and falls to 0 along half a "
      "cosine.",
      listed(rates), number_text(comparison.ladder.front()), number_text(comparison.ladder.back()),
      listed(std::vector<std::int64_t>(comparison.kept.begin(), comparison.kept.end())),
      comparison.judging.size(), comparison.steps);
}

/// The first cells of an arm's row: its name, and the search and its choice.
std::vector<std::string> search_cells(const ArmResults& arm) {
  const std::optional<Design> design = arm.chosen();
  return {arm.arm().placement.name, std::to_string(arm.searched().runs.size()),
          design ? title_of_weights(design->scheme) : "not finished", design ? number_text(design->lr) : "",
          !design                  ? ""
          : arm.searched().at_edge ? "yes"
                                   : "no"};
}

const std::vector<std::string> kSearchHeader = {"Placement", "Runs of the search", "Initial weights", "Rate",
                                                "At an edge"};

kit::Table best_table(const Comparison& comparison, const std::vector<ArmResults>& arms) {
  kit::Table table{.caption = fmt::format("{}, each at its best, on the judging seeds",
                                          counted(comparison.layers, "layer")),
                   .header = kSearchHeader};
  const ArmResults* const better = better_of_two(arms);
  table.header.insert(table.header.end(),
                      {"Failed", "Train", "Loss of the others", "Above the better of Pre-LN and Post-LN"});
  for (const ArmResults& arm : arms) {
    std::vector<std::string> row = search_cells(arm);
    const std::vector<double> losses = finite(arm.numbers("loss"));
    const Survival survival = survival_of(losses, comparison.task().context_free_loss());
    const bool any = !losses.empty();
    row.push_back(any ? fmt::format("{} of {}", survival.failed, survival.runs) : "");
    row.push_back(any ? fmt::format("{} of {}", arm.learned(), losses.size()) : "");
    row.push_back(any ? mean_and_range(survival.surviving) : "");
    row.push_back(!any || !better  ? ""
                  : &arm == better ? "it is the better"
                                   : mean_and_range(above(comparison, arm, *better)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_best_section(Page& page, const StudyResults& results) {
  const Comparison comparison = at_best(results.options);
  const std::vector<ArmResults> arms = results_of(results, comparison);
  page.html.heading(fmt::format("{}, each placement at its best", counted(comparison.layers, "layer")));
  page.html.paragraph(
      fmt::format("The placements proposed for deep stacks, against the better of Pre-LN and Post-LN on the "
                  "seeds that "
                  "search. The models have 32 channels and 4 heads; the language has ten boxes of five "
                  "things, each box "
                  "depends on the two before it, and a step has 4 lines of 32 characters. A run **trains** "
                  "if it ends below "
                  "{}, the loss of the best n-gram; it **fails** if it ends at {} or above, the loss of "
                  "predicting without "
                  "context; the loss of the language itself is {}. Failed runs are left out of the losses. ",
                  fixed_text(comparison.learned_loss(), 3),
                  fixed_text(comparison.task().context_free_loss(), 3),
                  fixed_text(comparison.task().entropy().value(), 3)) +
      describe_searches(comparison));
  page.html.table(best_table(comparison, arms));
  const ArmResults* const better = better_of_two(arms);
  if (!better) return;
  kit::BarChart chart{.title = fmt::format("Loss above the better of Pre-LN and Post-LN, {}",
                                           counted(comparison.layers, "layer")),
                      .value_label = "nats per character",
                      .decimals = 3};
  kit::BarSeries bars;
  for (const ArmResults& arm : arms) {
    const std::vector<double> values = finite(above(comparison, arm, *better));
    if (&arm == better || values.empty()) continue;
    chart.categories.push_back(arm.arm().placement.name);
    add_bar(bars, values);
  }
  if (bars.values.empty()) return;
  chart.series = {bars};
  page.figure("best", chart,
              fmt::format("The better is {}. Bars are means over the judging seeds on which neither failed; "
                          "error bars range from the lowest to the highest.",
                          better->arm().placement.name));
}

/// "900 (750 to 1200)": of the runs that reach the target.
std::string steps_of(const ArmResults& arm) { return mean_and_range(finite(arm.numbers("steps"))); }

void add_looking_section(Page& page, const StudyResults& results) {
  const Comparison comparison = looking_back(results.options);
  const std::vector<ArmResults> arms = results_of(results, comparison);
  page.html.heading(fmt::format("{} until they look back", counted(comparison.layers, "layer")));
  page.html.paragraph(
      fmt::format(
          "The small models again, for {} steps or until the loss on the validation set has reached {}, "
          "half-way "
          "from the best n-gram ({}) to the entropy; it is measured every 50 steps in which the training "
          "loss "
          "was below the n-gram's. A run **learned** if it ends below the n-gram. ReZero, with N(0, "
          "1/fan_in) "
          "alone, is the control: if it learned and another did not, the steps were enough. A search takes "
          "the "
          "settings that reach the target in the fewest steps; one that does not counts with all steps and "
          "more, by its loss. ",
          comparison.steps, fixed_text(comparison.target_loss(), 3),
          fixed_text(comparison.learned_loss(), 3)) +
      describe_searches(comparison));
  kit::Table table{.caption = fmt::format("{}, on the judging seeds", counted(comparison.layers, "layer")),
                   .header = kSearchHeader};
  table.header.insert(table.header.end(),
                      {"Final loss", "Learned", "Reached the target", "Steps of those that did"});
  for (const ArmResults& arm : arms) {
    std::vector<std::string> row = search_cells(arm);
    const std::vector<double> losses = finite(arm.numbers("loss"));
    const bool any = !losses.empty();
    row.push_back(any ? mean_and_range(losses) : "");
    row.push_back(any ? fmt::format("{} of {}", arm.learned(), losses.size()) : "");
    row.push_back(any ? fmt::format("{} of {}", reached_of(arm.numbers("steps")).reached, losses.size())
                      : "");
    row.push_back(any ? steps_of(arm) : "");
    table.rows.push_back(std::move(row));
  }
  page.html.table(table);
}

}  // namespace

void add_searched(Page& page, const StudyResults& results) {
  add_best_section(page, results);
  add_looking_section(page, results);
}

}  // namespace gradus::lab::placements
