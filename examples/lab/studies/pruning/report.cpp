// The page of the study of pruning.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/pruning/parts.h"

namespace gradus::lab::pruning {

namespace {

/// The names of the runs that learned.
std::vector<std::string> learned(const StudyResults& results, const std::string& placement) {
  std::vector<std::string> runs = learned_runs(results, placement);
  std::erase(runs, "");
  return runs;
}

std::vector<double> numbers_of_learned(const StudyResults& results, const std::string& placement,
                                       const std::string& number, double times = 1) {
  std::vector<double> values;
  for (const std::string& run : learned(results, placement))
    values.push_back(times * results.number(run, number));
  return values;
}

kit::LineChart chart_of(const StudyResults& results, const std::string& series, const std::string& title,
                        const std::string& x_label, const std::string& y_label) {
  const auto curves = [&](const std::string& placement) {
    std::vector<std::vector<double>> all;
    for (const std::string& run : learned(results, placement)) all.push_back(results.series(run, series));
    return all;
  };
  return {
      .title = title, .x_label = x_label, .y_label = y_label, .series = lines_of_curves(kPlacements, curves)};
}

/// "Pre-LN 32% (...), Post-LN ..."
std::string list_shares(const StudyResults& results, const std::string& number) {
  std::vector<std::string> words;
  for (const std::string& placement : kPlacements)
    words.push_back(placement + " " + mean_and_range(numbers_of_learned(results, placement, number, 100), 2));
  return fmt::format("{}", fmt::join(words, ", "));
}

void add_training(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  page.html.heading("The models");
  page.html.paragraph(fmt::format(
      "GPTs of {} layers, 32 channels and 4 heads train for {} steps of 16 documents of the recall language "
      "with Adam, warm-up over {} steps and the same rates {} for all; a seed's rate is the best on the "
      "other seeds. A model has learned when its loss is below the best {}-gram's {} nats (the lowest "
      "possible loss is {}); seeds that did not learn are left out.",
      grid.layers, grid.steps, grid.warmup, listed(grid.rates), recall_task().ngram().n,
      nats(recall_task().ngram().loss), nats(*recall_task().entropy())));
  kit::Table table{
      .caption = "At the best rate of each placement",
      .header = {"Placement", "Chosen rate", "Learned", "Loss (nats)", "Deeper half's share, dropping (%)",
                 "Deeper half's share, swapping (%)", "Cosine in the deeper half"}};
  for (const std::string& placement : grid.placements) {
    const auto percent = [&](const char* number) {
      return mean_and_range(numbers_of_learned(results, placement, number, 100), 2);
    };
    table.rows.push_back(
        {placement, chosen_rates(best_of(results, grid.search(placement))),
         fmt::format("{} of {}", numbers_of_learned(results, placement, "loss").size(), grid.seeds.size()),
         mean_and_range(numbers_of_learned(results, placement, "loss")), percent("drop-share"),
         percent("swap-share"), mean_and_range(numbers_of_learned(results, placement, "cosine-deep"))});
  }
  page.html.table(table);
}

void add_dropping(Page& page, const StudyResults& results) {
  page.html.heading("Without one layer");
  const std::size_t seeds = learned(results, "Pre-LN").size();
  const kit::LineChart drop = chart_of(results, "drop", "Loss that dropping one layer adds", "layer dropped",
                                       "rise of the loss (nats)");
  if (drop.series.empty()) return page.html.paragraph("No model has learned yet.");
  page.figure("drop", drop,
              fmt::format("The deeper half's share of the total loss that dropping single layers adds, in "
                          "percent: {}. An equal share would be 50. {}",
                          list_shares(results, "drop-share"), describe_bands(seeds)));
  page.figure("swap",
              chart_of(results, "swap", "Loss that swapping two neighbors adds", "first of the two layers",
                       "rise of the loss (nats)"),
              fmt::format("The same when neighbors are swapped: {}. {}", list_shares(results, "swap-share"),
                          describe_bands(seeds)));
  const double pre = mean(numbers_of_learned(results, "Pre-LN", "drop-share"));
  const double post = mean(numbers_of_learned(results, "Post-LN", "drop-share"));
  if (std::isfinite(pre) && std::isfinite(post))
    page.html.paragraph(fmt::format(
        "In Pre-LN the deeper half {} ({}% of the loss), and {} than in Post-LN ({}%).",
        pre < 0.5 ? "matters less than the first" : "matters more than the first",
        kit::number_text(100 * pre, 2), pre < post ? "less" : "more", kit::number_text(100 * post, 2)));
}

void add_angles(Page& page, const StudyResults& results) {
  page.html.heading("Angles between layers");
  const auto panel = [&](const std::string& series, const std::string& title) {
    kit::LineChart chart = chart_of(results, series, title, "layer l", "cosine of x_l and x_(l+1)");
    chart.y_high = 1;
    return chart;
  };
  const kit::LineChart before = panel("cosine-start", "Before training"), after = panel("cosine", "After");
  if (after.series.empty()) return;
  page.figure(
      "cosine", kit::Panels{.title = "Rotation of the stream by each layer", .panels = {before, after}},
      fmt::format(
          "1 means that the layer changes only the length. Mean cosine over the deeper half "
          "after training: Pre-LN {}, Post-LN {}. In Pre-LN the growing shortcut alone keeps "
          "the cosine near 1; a small rotation can still matter. {}",
          mean_and_range(numbers_of_learned(results, "Pre-LN", "cosine-deep")),
          mean_and_range(numbers_of_learned(results, "Post-LN", "cosine-deep")),
          describe_bands(after.series.front().low.empty() ? 1 : grid_of(results.options).seeds.size())));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_training(page, results);
  add_dropping(page, results);
  add_angles(page, results);
  page.limits(
      {"Large models: the papers look at 32 to 80 layers trained on text. The recall language can be solved "
       "by two layers, so most of the twelve have nothing to do in any placement.",
       "Longer training: after a few hundred steps layers may still be near their initial weights.",
       "Dropping several layers at once, or training on without them.",
       "The size of the effect: where all layers matter little, a share is a ratio of small numbers."});
}

}  // namespace gradus::lab::pruning
