// The page of the study of attention.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/attention/parts.h"
#include "lab/studies/bands.h"

namespace gradus::lab::attention {

namespace {

constexpr double kTells = 0.9;  // of pairs, from which a head counts as one that tells matches from others

using RunOf = std::function<std::string(std::uint64_t seed)>;

std::vector<double> values_of(const StudyResults& results, const std::vector<std::uint64_t>& seeds,
                              const RunOf& run, const std::string& number) {
  std::vector<double> values;
  for (const std::uint64_t seed : seeds)
    if (results.has(run(seed))) values.push_back(results.number(run(seed), number));
  return values;
}

std::vector<std::vector<double>> curves_of(const StudyResults& results,
                                           const std::vector<std::uint64_t>& seeds, const RunOf& run,
                                           const std::string& series) {
  std::vector<std::vector<double>> curves;
  for (const std::uint64_t seed : seeds)
    if (results.has(run(seed))) curves.push_back(results.series(run(seed), series));
  return curves;
}

RunOf training_of(const std::string& variant, double rate) {
  return [=](std::uint64_t seed) { return training_run(variant, rate, seed); };
}
RunOf axis_of(const std::string& axis) {
  return [=](std::uint64_t seed) { return axis_run(axis, seed); };
}

// --- scores in training

kit::Panels panels_of(const StudyResults& results, const Grid& grid, const std::string& series,
                      const std::string& title, const std::string& y_label) {
  kit::Panels panels{.title = title};
  for (const double rate : grid.rates) {
    kit::LineChart chart{.title = fmt::format("rate {}", kit::number_text(rate, 2)),
                         .x_label = "step",
                         .y_label = y_label,
                         .y_low = 0};
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
      const RunOf run = training_of(kVariants[i], rate);
      const auto steps = curves_of(results, grid.seeds, run, "step");
      if (steps.empty()) continue;
      const auto& longest = *std::max_element(
          steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
      chart.series.push_back(band_of_curves(title_of_variant(kVariants[i]),
                                            curves_of(results, grid.seeds, run, series), static_cast<int>(i),
                                            longest));
    }
    if (!chart.series.empty()) panels.panels.push_back(std::move(chart));
  }
  return panels;
}

void add_scores(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("Scores during training");
  page.html.paragraph(fmt::format(
      "GPTs of {} layers, 32 channels and 4 heads of 8 learn the recall language for {} steps of 16 "
      "documents, Adam "
      "without warm-up, rates {}; the ledger takes {} where it names none. Looked at are 64 documents of the "
      "validation set.",
      kTrainedLayers, grid.steps, listed(grid.rates), kit::number_text(kRate, 2)));
  const kit::Panels largest =
      panels_of(results, grid, "scores", "The largest |q·k|/√D of a pair that is seen", "score");
  if (largest.panels.empty()) return page.html.paragraph("No run is done yet.");
  std::string growth;
  for (const std::string& variant : kVariants)
    growth +=
        fmt::format("{}{} {}", growth.empty() ? "" : ", ", title_of_variant(variant),
                    mean_and_range(values_of(results, grid.seeds, training_of(variant, kRate), "growth"), 2));
  page.figure("largest", largest,
              fmt::format("Of order 1 would be below 10. After training over before, rate {}: {}. {}",
                          kit::number_text(kRate, 2), growth, band_words(grid.seeds.size())));
  page.figure(
      "entropy",
      panels_of(results, grid, "entropy", "Entropy of attention's rows", "of ln(keys), mean over rows"),
      "1: a query looks at all keys alike; 0: at one. Mean over layers, heads and rows. " +
          band_words(grid.seeds.size()));
  kit::Table table{.caption = "After training, by rate",
                   .header = {"Placement", "Rate", "Loss (nats)", "log10 of the largest score",
                              "Largest score over that at the start", "Diverged"}};
  for (const std::string& variant : kVariants)
    for (const double rate : grid.rates) {
      const RunOf run = training_of(variant, rate);
      const std::vector<double> diverged = values_of(results, grid.seeds, run, "diverged");
      table.rows.push_back(
          {title_of_variant(variant), kit::number_text(rate, 2),
           mean_and_range(values_of(results, grid.seeds, run, "loss")),
           mean_and_range(values_of(results, grid.seeds, run, "largest"), 3),
           mean_and_range(values_of(results, grid.seeds, run, "growth"), 2),
           fmt::format("{} of {}", std::count(diverged.begin(), diverged.end(), 1.0), diverged.size())});
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
    const auto curves = [&](const char* which) {
      return curves_of(results, grid.scale_seeds, scale_run, what + which);
    };
    one.series = {band_of_curves("q·k / √D", curves(".scaled"), 0, kHeadSizes),
                  band_of_curves("q·k", curves(".raw"), 1, kHeadSizes)};
    return one;
  };
  if (curves_of(results, grid.scale_seeds, scale_run, "variance.raw").empty()) return;
  const std::string bands = band_words(grid.scale_seeds.size());
  const auto at_largest = [&](const std::string& series) {
    std::vector<double> values;
    for (const auto& curve : curves_of(results, grid.scale_seeds, scale_run, series))
      values.push_back(curve.back());
    return kit::number_text(mean(values), 2);
  };
  page.figure(
      "variance", chart("variance", "Variance of scores", "variance", kit::AxisKind::log),
      fmt::format("64 queries and 64 keys, all numbers independent N(0, 1). At D = 1024 the variance is {} "
                  "divided and {} undivided. {}",
                  at_largest("variance.scaled"), at_largest("variance.raw"), bands));
  page.figure(
      "scale-entropy", chart("entropy", "Entropy of a row of the softmax", "nats", kit::AxisKind::linear),
      fmt::format(
          "ln 64 = 4.16 would be all keys alike, 0 one key alone. At D = 1024 it is {} divided and {} "
          "undivided. {}",
          at_largest("entropy.scaled"), at_largest("entropy.raw"), bands));
  page.figure(
      "scale-gradient",
      chart("gradient", "Gradient through the softmax", "root mean square", kit::AxisKind::log),
      fmt::format("Of the scores, for a random gradient of the weights. At D = 1024 it is {} divided and {} "
                  "undivided, where it is that of few rows that are still undecided. {}",
                  at_largest("gradient.scaled"), at_largest("gradient.raw"), bands));
}

// --- the axis of the softmax

void add_axis(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("A softmax over the wrong axis");
  page.html.paragraph(
      fmt::format("The same Pre-LN model of 2 layers with the softmax over the keys, over the queries (axis "
                  "0 of scores [Tq, Tk]) "
                  "and over the batch (axis 0 of [B, H, Tq, Tk]); the future is masked with scores of −1e9. "
                  "{} steps, rate {}. The "
                  "least possible loss is that of a reader who knows the language and sees all that came "
                  "before, on the very "
                  "documents the models are measured on.",
                  grid.axis_steps, kit::number_text(kRate, 2)));
  kit::Table table{.caption = "After training",
                   .header = {"Softmax over", "Rows add up to 1, but for", "Below the least loss (nats)",
                              "Later tokens change logits by", "Other documents by"}};
  const char* const titles[] = {"keys (right)", "queries", "batch"};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const auto words = [&](const char* number) {
      return mean_and_range(values_of(results, grid.seeds, axis_of(kAxes[i]), number), 2);
    };
    table.rows.push_back({titles[i], words("rows"), words("leak"), words("future"), words("others")});
  }
  page.html.table(table);
  kit::LineChart chart{.title = "Loss by the axis of the softmax",
                       .x_label = "step",
                       .y_label = "loss of the batch (nats per character)"};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const auto curves = curves_of(results, grid.seeds, axis_of(kAxes[i]), "losses");
    if (curves.empty()) continue;
    std::vector<double> steps;
    for (std::size_t at = 0; at < curves.front().size(); ++at)
      steps.push_back(1 +
                      std::floor(static_cast<double>(at) * static_cast<double>(grid.axis_steps - 1) /
                                 static_cast<double>(std::max<std::size_t>(curves.front().size() - 1, 1))));
    chart.series.push_back(band_of_curves(titles[i], curves, static_cast<int>(i), steps));
  }
  if (chart.series.empty()) return;
  chart.references = {{.at = *recall_task().entropy(), .label = "least possible"}};
  const double leak = mean(values_of(results, grid.seeds, axis_of("queries"), "leak"));
  page.figure(
      "axis", chart,
      fmt::format(
          "With the softmax over the queries the loss ends {} the least possible one: {}. {}",
          leak > 0 ? "below" : "above",
          leak > 0
              ? "only who sees what comes can do that, so a loss that is too good is the sign of this bug"
              : "the leak is there, but this model does not use it",
          band_words(grid.seeds.size())));
}

// --- matches and subspaces

// The heads of the first seed as a map, and how many of all seeds' tell matches from others.
void add_heads_of_a_seed(Page& page, const StudyResults& results, const Grid& grid) {
  const std::vector<std::vector<double>> heads =
      curves_of(results, grid.seeds, training_of("pre", kRate), "heads.auc");
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
      fmt::format("0.5 is chance. Over all seeds, {} of {} heads tell matches from others in more than "
                  "nine of ten pairs; {} of {} seeds have such a head.",
                  telling, heads.size() * heads.front().size(), seeds_with_one, heads.size()));
}

void add_heads(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("What a match is to a head");
  const auto words = [&](const char* variant, const std::string& number) {
    return mean_and_range(values_of(results, grid.seeds, training_of(variant, kRate), number), 2);
  };
  page.html.paragraph(
      "A query stands at a box's name, which was named before; its keys are the letters before it. A match "
      "is a letter "
      "that followed the same name. The recall head is the one of all 16 whose queries give matches the most "
      "attention "
      "on 64 documents; it is measured on 64 others.");
  page.html.table(
      {.caption = fmt::format("The recall head after training, rate {}", kit::number_text(kRate, 2)),
       .header = {"Placement", "Attention on matches", "A match's q·k is larger than another's",
                  "Cosine of q and k, matches minus others"},
       .rows = {{"Pre-LN", words("pre", "mass"), words("pre", "auc"), words("pre", "cosine")},
                {"Post-LN", words("post", "mass"), words("post", "auc"), words("post", "cosine")}}});
  add_heads_of_a_seed(page, results, grid);
  page.html.heading("The subspaces of heads");
  page.html.paragraph(
      "A head's queries live in the 8 directions that the rows of its W_Q span, of 32; so do keys and "
      "values. Two random "
      "subspaces of that size share a quarter in the mean squared cosine of their principal angles: here 1 "
      "is that "
      "chance, 0 orthogonal, 4 the same.");
  kit::Table table{.caption = "Pairs of heads, Pre-LN, mean over layers and pairs",
                   .header = {"", "Overlap at the start", "after training", "Smallest angle at the start (°)",
                              "after training (°)"}};
  const char* const titles[] = {"queries", "keys", "values"};
  const char* const parts[] = {"q", "k", "v"};
  for (int i = 0; i < 3; ++i)
    table.rows.push_back({titles[i], words("pre", fmt::format("overlap-start.{}", parts[i])),
                          words("pre", fmt::format("overlap.{}", parts[i])),
                          words("pre", fmt::format("angle-start.{}", parts[i])),
                          words("pre", fmt::format("angle.{}", parts[i]))});
  page.html.table(table);
  const double before = mean(values_of(results, grid.seeds, training_of("pre", kRate), "overlap-start.q"));
  const double after = mean(values_of(results, grid.seeds, training_of("pre", kRate), "overlap.q"));
  if (std::isfinite(after))
    page.html.paragraph(fmt::format(
        "Training changes the overlap of queries by {}: heads {}.", kit::number_text(after - before, 2),
        std::abs(after - before) < 0.1 ? "keep about the subspaces they were drawn with"
        : after < before               ? "are set apart"
                                       : "come to share directions"));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_scores(page, results, grid);
  add_scale(page, results, grid);
  add_axis(page, results, grid);
  add_heads(page, results, grid);
  page.html.heading("What this does not show");
  page.html.list(
      {"Growth over long training: papers see logits of 50,000 and divergence after many thousand steps.",
       "The recall language needs one kind of match; text needs many, and heads that match nothing.",
       "A subspace of a matrix says which directions it can read, not which ones data has: heads with the "
       "same "
       "subspace may look for different things in it."});
}

}  // namespace gradus::lab::attention
