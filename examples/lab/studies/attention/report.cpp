// The page of the study of attention.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/attention/parts.h"

namespace gradus::lab::attention {

namespace {

constexpr double kTells = 0.9;  // share of pairs above which a head distinguishes matches from others

kit::Panels panels_of(const StudyResults& results, const Grid& grid, const std::string& series,
                      const std::string& title, const std::string& y_label) {
  return panels(title, grid.rates, [&](double rate) {
    kit::LineChart chart{.title = fmt::format("rate {}", kit::number_text(rate, 2)),
                         .x_label = "step",
                         .y_label = y_label,
                         .y_low = 0};
    int style = 0;
    for (const Titled& variant : kVariants) {
      const Runs runs = training_runs(results, variant.name, rate);
      std::vector<double> steps;  // of a run that finished, if there is one
      for (const std::vector<double>& one : runs.curves("step"))
        if (one.size() > steps.size()) steps = one;
      chart.series.push_back(band_of_curves(variant.title, runs.curves(series), style++, steps));
    }
    std::erase_if(chart.series, [](const kit::Series& line) { return line.x.empty(); });
    return chart;
  });
}

void add_scores(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("Scores during training");
  page.html.paragraph(
      fmt::format("GPTs of {} layers, 32 channels and 4 heads of 8 learn the recall language for {} steps of "
                  "16 documents with Adam, without warm-up, at the rates {}; the ledger takes {} where it "
                  "names none. Scores are measured on 64 documents of the validation set.",
                  kTrainedLayers, grid.steps, listed(grid.rates), kit::number_text(kRate, 2)));
  const kit::Panels largest =
      panels_of(results, grid, "scores", "Largest |q·k|/√D of a visible pair", "score");
  if (largest.panels.empty()) return page.html.paragraph("No run is done yet.");
  std::vector<std::string> growth;
  for (const Titled& variant : kVariants)
    growth.push_back(variant.title + " " +
                     mean_and_range(training_runs(results, variant.name).numbers("growth"), 2));
  page.figure(
      "largest", largest,
      fmt::format("Here “of order 1” means below 10. The largest score after training, divided by that "
                  "before training, at rate {}: {}. {}",
                  kit::number_text(kRate, 2), fmt::join(growth, ", "), describe_bands(grid.seeds.size())));
  page.figure(
      "entropy",
      panels_of(results, grid, "entropy", "Entropy of attention's rows", "of ln(keys), mean over rows"),
      "1: a query attends equally to all keys; 0: to one only. Mean over layers, heads and rows. " +
          describe_bands(grid.seeds.size()));
  kit::Table table{.caption = "After training, by rate",
                   .header = {"Placement", "Rate", "Loss (nats)", "log10 of the largest score",
                              "Largest score over that at the start", "Diverged"}};
  for (const Titled& variant : kVariants)
    for (const double rate : grid.rates) {
      const Runs runs = training_runs(results, variant.name, rate);
      table.rows.push_back({variant.title, kit::number_text(rate, 2), mean_and_range(runs.numbers("loss")),
                            mean_and_range(runs.numbers("largest")),
                            mean_and_range(runs.numbers("growth"), 2), share_of(runs.numbers("diverged"))});
    }
  page.html.table(table);
}

// --- the root of D

void add_scale(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("Dividing by √D");
  const auto chart = [&](const std::string& what, const std::string& title, const std::string& label,
                         kit::AxisKind axis) {
    kit::LineChart one{.title = title,
                       .x_label = "channels D of a head",
                       .y_label = label,
                       .x_axis = kit::AxisKind::log,
                       .y_axis = axis,
                       .x_ticks = kHeadSizes};
    const Titled kinds[] = {{".scaled", "q·k / √D"}, {".raw", "q·k"}};
    one.series = lines_of_curves(
        kinds, [&](const Titled& kind) { return scale_runs(results).curves(what + kind.name); }, kHeadSizes);
    return one;
  };
  if (scale_runs(results).curves("variance.raw").empty()) return;
  const std::string bands = describe_bands(grid.scale_seeds.size());
  const auto at_largest = [&](const std::string& series) {
    std::vector<double> values;
    for (const auto& curve : scale_runs(results).curves(series)) values.push_back(curve.back());
    return kit::number_text(mean(values), 2);
  };
  page.figure(
      "variance", chart("variance", "Variance of scores", "variance", kit::AxisKind::log),
      fmt::format("64 queries and 64 keys with independent entries from N(0, 1). At D = 1024 the variance "
                  "is {} with the division and {} without it. {}",
                  at_largest("variance.scaled"), at_largest("variance.raw"), bands));
  page.figure("scale-entropy",
              chart("entropy", "Entropy of a row of the softmax", "nats", kit::AxisKind::linear),
              fmt::format("ln 64 = 4.16 means equal weights for all keys, 0 all weight on one key. At D = "
                          "1024 it is {} with the division and {} without it. {}",
                          at_largest("entropy.scaled"), at_largest("entropy.raw"), bands));
  page.figure(
      "scale-gradient",
      chart("gradient", "Gradient through the softmax", "root mean square", kit::AxisKind::log),
      fmt::format(
          "The gradient with respect to the scores, for a random gradient with respect to the "
          "weights. At D = 1024 it is {} with the division and {} without it, where it comes from the few "
          "rows that are still undecided. {}",
          at_largest("gradient.scaled"), at_largest("gradient.raw"), bands));
}

// --- the axis of the softmax

void add_axis(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("A softmax over the wrong axis");
  page.html.paragraph(fmt::format(
      "The same Pre-LN model of 2 layers with the softmax over the keys, over the queries (axis 0 of scores "
      "[Tq, Tk]) and over the batch (axis 0 of [B, H, Tq, Tk]); the future is masked with scores of −1e9. {} "
      "steps, rate {}. The lowest possible loss is that of a reader who knows the language and sees all "
      "earlier characters, on the same documents on which the models are measured.",
      grid.axis_steps, kit::number_text(kRate, 2)));
  const Titled columns[] = {{"rows", "Row sums differ from 1 by"},
                            {"leak", "Below the lowest possible loss (nats)"},
                            {"future", "Later tokens change logits by"},
                            {"others", "Other documents change them by"}};
  page.html.table(cross_table("After training", "Softmax over", kAxes, columns,
                              [&](const Titled& axis, const Titled& column) {
                                return mean_and_range(axis_runs(results, axis.name).numbers(column.name), 2);
                              }));
  const auto curves = [&](const Titled& axis) { return axis_runs(results, axis.name).curves("losses"); };
  const kit::LineChart chart{.title = "Loss by the axis of the softmax",
                             .x_label = "step",
                             .y_label = "loss of the batch (nats per character)",
                             .series = lines_of_curves(kAxes, curves, thinned_steps(grid.axis_steps, 40)),
                             .references = {{.at = *recall_task().entropy(), .label = "lowest possible"}}};
  const double leak = mean(axis_runs(results, "queries").numbers("leak"));
  page.figure(
      "axis", chart,
      fmt::format("With the softmax over the queries the loss ends {} the lowest possible one: {}. {}",
                  leak > 0 ? "below" : "above",
                  leak > 0 ? "only a model that sees the answer can do that, so a loss that is too good is "
                             "a sign of this bug"
                           : "the leak exists, but this model does not use it",
                  describe_bands(grid.seeds.size())));
}

// --- matches and subspaces

// The heads of the first seed as a map, and how many heads of all seeds distinguish matches from others.
void add_heads_of_a_seed(Page& page, const StudyResults& results) {
  const std::vector<std::vector<double>> heads = training_runs(results, "pre").curves("heads.auc");
  if (heads.empty()) return;
  kit::HeatMap map{.title = "Every head of the first seed, Pre-LN",
                   .x_label = "head",
                   .y_label = "layer",
                   .columns = {"1", "2", "3", "4"},
                   .values = heads.front(),
                   .value_label = "probability that a match has the larger q·k",
                   .decimals = 2};
  for (std::int64_t layer = 1; layer <= kTrainedLayers; ++layer) map.rows.push_back(std::to_string(layer));
  const auto tells = [](double auc) { return auc > kTells; };
  std::int64_t telling = 0, seeds_with_one = 0;
  for (const std::vector<double>& of_seed : heads) {
    telling += std::count_if(of_seed.begin(), of_seed.end(), tells);
    seeds_with_one += std::any_of(of_seed.begin(), of_seed.end(), tells);
  }
  page.figure(
      "heads", map,
      fmt::format(
          "0.5 is chance. Over all seeds, {} of {} heads give a match a larger q·k than another letter in "
          "more than nine of ten pairs; {} of {} seeds have such a head.",
          telling, heads.size() * heads.front().size(), seeds_with_one, heads.size()));
}

void add_heads(Page& page, const StudyResults& results) {
  page.html.heading("Matches and heads");
  page.html.paragraph(
      "A query is at the name of a box that was named before; its keys are the letters before it. A match is "
      "a letter that followed the same name. The recall head is the one of all 16 heads whose queries give "
      "matches the most attention on 64 documents; it is measured on 64 others.");
  const auto words = [&](const Titled& variant, const Titled& column) {
    return mean_and_range(training_runs(results, variant.name).numbers(column.name), 2);
  };
  const Titled columns[] = {{"mass", "Attention on matches"},
                            {"auc", "A match's q·k is larger than another's"},
                            {"cosine", "Cosine of q and k, matches minus others"}};
  page.html.table(
      cross_table(fmt::format("The recall head after training, rate {}", kit::number_text(kRate, 2)),
                  "Placement", std::vector<Titled>{kVariants[0], kVariants[1]}, columns, words));
  add_heads_of_a_seed(page, results);
  page.html.heading("The subspaces of heads");
  page.html.paragraph(
      "A head's queries lie in the 8 of 32 directions that the rows of its W_Q span; the same holds for keys "
      "and values. Two random subspaces of that size have a mean squared cosine of their principal angles of "
      "a quarter: in this table 1 is that chance value, 0 means orthogonal, 4 identical.");
  const Titled parts[] = {{".q", "queries"}, {".k", "keys"}, {".v", "values"}};
  const Titled measured[] = {{"overlap-start", "Overlap at the start"},
                             {"overlap", "after training"},
                             {"angle-start", "Smallest angle at the start (°)"},
                             {"angle", "after training (°)"}};
  page.html.table(cross_table("Pairs of heads, Pre-LN, mean over layers and pairs", "", parts, measured,
                              [&](const Titled& part, const Titled& what) {
                                return words(kVariants[0], {what.name + part.name, ""});
                              }));
  const double before = mean(training_runs(results, "pre").numbers("overlap-start.q"));
  const double after = mean(training_runs(results, "pre").numbers("overlap.q"));
  if (std::isfinite(after))
    page.html.paragraph(fmt::format(
        "Training changes the overlap of queries by {}: heads {}.", kit::number_text(after - before, 2),
        std::abs(after - before) < 0.1 ? "keep about the subspaces they were drawn with"
        : after < before               ? "move apart"
                                       : "come to share directions"));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_scores(page, results, grid);
  add_scale(page, results, grid);
  add_axis(page, results, grid);
  add_heads(page, results);
  page.limits(
      {"Growth over long training: papers report logits of 50,000 and divergence after many thousand steps.",
       "The recall language needs one kind of match; text needs many, and heads that match nothing.",
       "The data: the subspace of a matrix shows which directions it can read, not which ones the data has; "
       "heads with the same subspace may look for different things in it."});
}

}  // namespace gradus::lab::attention
