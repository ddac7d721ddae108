// The page of the study of blocks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/blocks/parts.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::blocks {

namespace {

/// The largest over the seeds that have finished; NaN for none.
double worst(const StudyResults& results, const std::string& model, const std::string& number) {
  const std::vector<double> values = models_of(results, model).numbers(number);
  return values.empty() ? kit::nothing : *std::max_element(values.begin(), values.end());
}

std::string format_worst(const StudyResults& results, const std::string& model, const std::string& number) {
  return kit::number_text(worst(results, model, number), 2);
}

void add_models(Page& page, const StudyResults& results) {
  page.html.heading("By construction");
  page.html.paragraph(
      "Small models of each pattern, with random weights, gains and biases, are compared with the same parts "
      "assembled by hand. The number is the largest difference of an output from the library's, over the "
      "standard deviation of the library's; the worst of 3 draws of weights.");
  page.html.table(
      {.caption = "The models and how they are described",
       .header = {"Model", "Against", "Largest difference"},
       .rows = {{"GPT-1", "the original decoder without its attention over memory and that branch's norm",
                 format_worst(results, "gpt1", "gpt1.logits")},
                {"GPT-1", "the original decoder whose attention over memory gives 0, its norm left in place",
                 format_worst(results, "gpt1", "gpt1.silenced")},
                {"GPT-2", "x + f(LN(x)) and a final norm", format_worst(results, "gpt2", "gpt2.formula")},
                {"GPT-3, every other block banded", "x + f(LN(x)) and a final norm",
                 format_worst(results, "gpt3", "gpt3.pre")},
                {"T5's encoder, position bias on the scores", "x + f(RMS(x)) and a final norm",
                 format_worst(results, "t5", "t5.pre")},
                {"BERT", "LN(x + f(x)), after a norm of the embedding",
                 format_worst(results, "bert", "bert.post")}}});
  const double silenced = worst(results, "gpt1", "gpt1.silenced");
  if (std::isfinite(silenced))
    page.html.paragraph(
        silenced > 1e-3
            ? "A decoder whose cross-attention is silenced rather than removed is a different model: in "
              "Post-LN the norm of the missing branch acts on values that are already normalised, with its "
              "gain and bias."
            : "Silencing the cross-attention gives the same as removing it, except for rounding.");
  page.html.paragraph(fmt::format(
      "{} of T5's norms and {} of GPT-3's subtract a mean and have a bias. The file of a small GPT-2 differs "
      "from the published model's list of names by {} tensors, that of a small BERT by {}.",
      kit::number_text(100 * worst(results, "t5", "t5.layernorm"), 3) + "%",
      kit::number_text(100 * worst(results, "gpt3", "gpt3.layernorm"), 3) + "%",
      format_worst(results, "gpt2", "gpt2.names"), format_worst(results, "bert", "bert.names")));
}

std::string describe_verdict(const std::vector<double>& differences) {
  const Difference d = difference_of(differences);
  if (d.count == 0) return "not measured";
  const std::string seeds = fmt::format("{} of {} seeds", d.agreeing(), d.count);
  if (d.low > 0) return "worse on " + seeds;
  if (d.high < 0) return "better on " + seeds;
  return "no clear difference: worse on " + fmt::format("{} of {} seeds", d.up, d.count);
}

void add_table(Page& page, const StudyResults& results) {
  kit::Table made{.caption = "The blocks", .header = {"Block", "Computes", "Shipped as"}};
  kit::Table losses{.caption = "Final loss: mean over seeds, lowest and highest",
                    .header = {"Block", "Chosen rate", "Final loss (nats)"}};
  for (const Variant& variant : variants()) {
    const Found found = best_of(results, grid_of(results.options).search(variant.name));
    made.rows.push_back(
        {variant.title, variant.equation, variant.meant.empty() ? "as intended" : variant.shipped});
    losses.rows.push_back({variant.title, chosen_rates(found), mean_and_range(found.values)});
  }
  kit::Table costs{.caption = "Their cost, each at its best rate",
                   .header = {"Built", "Intended", "Built minus intended (nats)", ""}};
  for (const Mistake& mistake : mistakes()) {
    const std::vector<double> off = differences(results, mistake.made, mistake.meant);
    costs.rows.push_back({mistake.title, mistake.meant == "pre" ? "Pre-LN" : "Post-LN", mean_and_range(off),
                          describe_verdict(off)});
  }
  page.html.table(made);
  page.html.table(losses);
  page.html.table(costs);
}

void add_curves(Page& page, const StudyResults& results, const std::string& meant, const std::string& title) {
  const Grid grid = grid_of(results.options);
  std::vector<Variant> some;
  for (const Variant& variant : variants())
    if (variant.name == meant || variant.meant == meant) some.push_back(variant);
  const auto curves = [&](const Variant& variant) {
    return curves_at_best(results, best_of(results, grid.search(variant.name)), "losses");
  };
  const kit::LineChart chart{
      .title = title,
      .x_label = "step",
      .y_label = "loss of the batch (nats per character)",
      .series = without_bands(lines_of_curves(some, curves, thinned_steps(grid.steps, kCurvePoints))),
      .references = {{.at = *tiny_task().entropy(), .label = "lowest possible"}}};
  page.figure("training-" + meant, chart,
              fmt::format("Means over {}, {} layers, each block at the best of the rates {}.",
                          count_seeds(grid.seeds.size()), kTrainedLayers, listed(grid.rates)));
}

void add_differences(Page& page, const StudyResults& results) {
  kit::BarChart chart{.title = "Cost of the wrong block",
                      .value_label = "final loss minus that of the intended block (nats)"};
  kit::BarSeries bars{.name = "mean over seeds, lines from the lowest to the highest"};
  for (const Mistake& mistake : mistakes()) {
    const std::vector<double> off = differences(results, mistake.made, mistake.meant);
    if (off.empty()) continue;
    chart.categories.push_back(mistake.title + (mistake.meant == "pre" ? ", for Pre-LN" : ", for Post-LN"));
    add_bar(bars, off);
  }
  if (chart.categories.empty()) return;
  chart.decimals = 3;
  const double most = *std::max_element(bars.values.begin(), bars.values.end());
  const double least = *std::min_element(bars.values.begin(), bars.values.end());
  chart.series.push_back(std::move(bars));
  page.figure("mutants", chart,
              fmt::format("The worst of these blocks costs {} nats per character on average, the best {}{}.",
                          kit::number_text(most, 2), kit::number_text(least, 2),
                          least < 0 ? ": it trains better than the intended block" : ""));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_models(page, results);
  const Grid grid = grid_of(results.options);
  page.html.heading("Blocks that were shipped wrong");
  page.html.paragraph(
      fmt::format("GPTs of {} layers, all at the same rates, {}; a seed's rate is the best of the other "
                  "seeds, and differences are made seed by seed. {}",
                  kTrainedLayers, listed(grid.rates), describe_tiny(grid.steps)));
  add_table(page, results);
  add_differences(page, results);
  add_curves(page, results, "pre", "Blocks intended as Pre-LN");
  add_curves(page, results, "post", "Blocks intended as Post-LN");
  const double same = worst(results, "shortcut", "shortcut.is-post");
  if (std::isfinite(same))
    page.html.paragraph(
        fmt::format("The normalised shortcut {} Post-LN with one more norm in front: each norm then follows "
                    "the branch before it. With the weights moved accordingly, outputs differ by at most {}. "
                    "Users who asked for Pre-LN got Post-LN.",
                    same < 1e-4 ? "is" : "is not", kit::number_text(same, 2)));
  page.limits(
      {"Deeper stacks, and training without warm-up, which Post-LN tolerates less well: see the study rates.",
       "Inference: a checkpoint trained with the wrong block is right only with the wrong block.",
       "The reports name versions; those frameworks are fixed now, except for nn.Transformer's last norm, "
       "which is kept for old checkpoints."});
}

}  // namespace gradus::lab::blocks
