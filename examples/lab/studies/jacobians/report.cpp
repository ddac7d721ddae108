#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/jacobians/jacobians.h"
#include "lab/training/trial.h"

namespace gradus::lab::jacobians {

namespace {

using Values = std::vector<double>;

Values over_seeds(const StudyResults& results, const Grid& grid, const Variant& variant,
                  const char* placement, double lr, const char* number) {
  Values values;
  for (const std::uint64_t seed : grid.seeds) {
    const std::string run = run_name(variant.name, placement, lr, seed);
    if (results.has(run)) values.push_back(results.number(run, number));
  }
  return values;
}

void add_formulas(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("The formula");
  kit::Table table{.caption = "Largest difference of an entry from central differences, in f64, d = 6",
                   .header = {"formula", "mean (least to largest)"}};
  const char* const rows[][2] = {{"right", "(I − 11ᵀ/d − x̂x̂ᵀ/d)/σ, and automatic differentiation"},
                                 {"constant-sigma", "(I − 11ᵀ/d)/σ: σ taken for a constant"},
                                 {"printed", "(δᵢⱼ − μⱼ)/σ: as printed"}};
  for (const auto& row : rows) {
    Values values;
    for (const std::uint64_t seed : grid.formula_seeds)
      if (results.has(formula_name(seed))) values.push_back(results.number(formula_name(seed), row[0]));
    table.rows.push_back({row[1], mean_and_range(values)});
  }
  page.html.paragraph(
      fmt::format("{} random tokens. Dimensions alone speak against the printed one: μ has the unit of x, δ "
                  "none.",
                  grid.formula_seeds.size()));
  page.html.table(table);
}

void add_cosines(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{
      .caption = "Cosine between the first gradient and the right one, all parameters; range over seeds",
      .header = {"backward", "Pre-LN", "Post-LN"}};
  for (const Variant& variant : grid.variants) {
    table.rows.push_back({variant.title});
    for (const char* placement : kPlacements)
      table.rows.back().push_back(mean_and_range(
          over_seeds(results, grid, variant, placement, grid.rates.front(), "gradient-cosine")));
  }
  page.html.paragraph(
      "How far the gradient of the whole model turns: a wrong Jacobian is met once in every branch of "
      "Pre-LN, "
      "and on the shortcut itself in Post-LN.");
  page.html.table(table);
}

/// "right 0.9 in Pre-LN and 0.9 in Post-LN; ...": each at the rate that is best on the other seeds.
std::string losses_sentence(const StudyResults& results, const Grid& grid) {
  std::string words;
  for (const Variant& variant : grid.variants) {
    const auto loss = [&](const char* placement) {
      return nats(mean(finite(best_of(results, search_of(grid, variant.name, placement)).values)));
    };
    words += fmt::format("{}{} ends at {} in Pre-LN and {} in Post-LN", words.empty() ? "" : "; ",
                         variant.title, loss(kPlacements[0]), loss(kPlacements[1]));
  }
  return words +
         fmt::format("; guessing by frequency alone would be at {}", nats(recall_task().context_free_loss()));
}

void add_rates(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Panels panels{.title = "Final loss against the learning rate"};
  for (const char* placement : kPlacements) {
    kit::LineChart chart{.title = placement,
                         .x_label = "learning rate (log scale)",
                         .y_label = "nats per character",
                         .x_axis = kit::AxisKind::log,
                         .x_ticks = {1e-3, 1e-2}};  // all four would print over each other
    for (std::size_t v = 0; v < grid.variants.size(); ++v) {
      std::vector<Values> by_rate;
      for (const double lr : grid.rates)
        by_rate.push_back(over_seeds(results, grid, grid.variants[v], placement, lr, "loss"));
      kit::Series line = band(grid.variants[v].title, grid.rates, by_rate, static_cast<int>(v));
      line.spread = kit::Spread::error_bars;
      if (!line.x.empty()) chart.series.push_back(line);
    }
    if (!chart.series.empty()) panels.panels.push_back(chart);
  }
  if (panels.panels.size() == 2)
    page.figure(
        "jacobians-rates", panels,
        fmt::format("Validation loss after {} steps of {} layers: {}. “σ constant” differentiates the "
                    "mean but not the division by σ. {}",
                    kSteps, kLayers, losses_sentence(results, grid), band_words(grid.seeds.size())));
}

/// "costs 0.2 nats", "costs nothing that can be seen".
std::string cost_words(const Values& values) {
  if (values.empty()) return "is not measured";
  const Spread spread = spread_of(values);
  const std::string range = mean_and_range(values) + " nats";
  if (spread.low > 0.01) return "costs " + range + " on every seed";
  if (spread.high < -0.01) return "ends lower, by " + range + ", on every seed";
  if (spread.high <= 0.01 && spread.low >= -0.01) return "costs nothing that can be seen (" + range + ")";
  return "costs nothing on some seeds and something on others (" + range + ")";
}

void add_losses(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{.caption = "Loss minus that of the right backward, each at its best rate, nats",
                   .header = {"backward", "Pre-LN", "Post-LN", "runs that diverged"}};
  std::vector<std::string> sentences;
  for (const Variant& variant : grid.variants) {
    double diverged = 0, runs = 0;
    for (const char* placement : kPlacements)
      for (const double lr : grid.rates)
        for (const double value : over_seeds(results, grid, variant, placement, lr, "diverged"))
          diverged += value, ++runs;
    table.rows.push_back({variant.title, mean_and_range(lost(results, grid, variant.name, kPlacements[0])),
                          mean_and_range(lost(results, grid, variant.name, kPlacements[1])),
                          fmt::format("{:.0f} of {:.0f}", diverged, runs)});
    if (variant.backward == NormBackward::right) continue;
    sentences.push_back(fmt::format("**{}**: {} in Pre-LN, {} in Post-LN.", variant.title,
                                    cost_words(lost(results, grid, variant.name, kPlacements[0])),
                                    cost_words(lost(results, grid, variant.name, kPlacements[1]))));
  }
  page.html.list(sentences);
  page.html.table(table);
}

void add_settings(Page& page, const Grid& grid) {
  const TrialOptions defaults;
  page.html.paragraph(fmt::format(
      "GPTs of {} blocks, {} channels and {} heads on the recall language: {} steps of {} windows of {} "
      "characters, Adam (0.9, 0.999), no warm-up, no clipping. Forward all variants give the same bits; only "
      "what goes back through a norm differs. Rates tried, the same for all: {}; each seed takes the one "
      "that is best on the other seeds. "
      "Guessing by frequency alone "
      "would be at {} nats, the least possible loss is {}. A run counts as diverged when a loss is not "
      "finite "
      "or above 4 log(vocabulary), and then with the loss it started from.",
      kLayers, defaults.block.d_model, defaults.block.heads, kSteps, defaults.batch, recall_task().context(),
      listed(grid.rates), nats(recall_task().context_free_loss()),
      nats(recall_task().entropy().value_or(kit::nothing))));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_formulas(page, results, grid);
  page.html.heading("Training with it");
  add_settings(page, grid);
  add_losses(page, results, grid);
  add_rates(page, results, grid);
  add_cosines(page, results, grid);
  page.html.heading("What this does not show");
  page.html.list({
      "Small models and one task: what a wrong gradient costs at scale, or with gains far from 1, is open.",
      "Adam divides by the size of gradients, so that a backward which is wrong by a factor costs little; "
      "with "
      "SGD it may cost more.",
      "“μⱼ” is read as the token's mean, and the backward as the formula's transpose times the gradient; "
      "another reading gives another wrong Jacobian.",
  });
}

}  // namespace gradus::lab::jacobians
