#include <fmt/format.h>

#include "lab/statistics/statistics.h"
#include "lab/studies/jacobians/jacobians.h"
#include "lab/training/trial.h"

namespace gradus::lab::jacobians {

namespace {

void add_formulas(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("The formula");
  const Titled formulas[] = {{"right", "(I − 11ᵀ/d − x̂x̂ᵀ/d)/σ, and automatic differentiation"},
                             {"constant-sigma", "(I − 11ᵀ/d)/σ: σ treated as a constant"},
                             {"printed", "(δᵢⱼ − μⱼ)/σ: as printed"}};
  page.html.paragraph(
      fmt::format("The formulas are evaluated at {} random tokens. Units alone contradict the printed one: μ "
                  "has the unit of x, δ has none.",
                  grid.formula_seeds.size()));
  const Runs runs(results, grid.formula_seeds, formula_name);
  page.html.table(cross_table(
      "Largest difference of an entry from central differences, in f64, d = 6", "formula", formulas,
      std::vector<std::string>{"mean (lowest to highest)"},
      [&](const Titled& formula, const std::string&) { return mean_and_range(runs.numbers(formula.name)); }));
}

void add_cosines(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.paragraph(
      "This table shows how far the gradient of the whole model turns: a wrong Jacobian is applied once in "
      "every branch of Pre-LN, and on the shortcut itself in Post-LN.");
  page.html.table(
      cross_table("Cosine between the first gradient and the right one, all parameters; range over seeds",
                  "backward", grid.variants, kPlacements, [&](const Variant& variant, const char* placement) {
                    Search search = search_of(grid, variant.name, placement);
                    search.number = "gradient-cosine";
                    return mean_and_range(at_rate(results, search, grid.rates.front()));
                  }));
}

/// "with the right Jacobian it ends at 0.9 in Pre-LN and 0.9 in Post-LN; ...": each at the rate that is best
/// on the other seeds.
std::string describe_losses(const StudyResults& results, const Grid& grid) {
  std::string words;
  for (const Variant& variant : grid.variants) {
    const auto loss = [&](const char* placement) {
      return nats(mean(finite(best_of(results, search_of(grid, variant.name, placement)).values)));
    };
    words += fmt::format("{}with {} it ends at {} in Pre-LN and {} in Post-LN", words.empty() ? "" : "; ",
                         variant.backward == NormBackward::right ? "the right Jacobian" : variant.title,
                         loss(kPlacements[0]), loss(kPlacements[1]));
  }
  return words +
         fmt::format("; guessing by frequency alone would give {}", nats(recall_task().context_free_loss()));
}

void add_rates(Page& page, const StudyResults& results, const Grid& grid) {
  const auto chart = [&](const char* placement) {
    const auto losses = [&](const Variant& variant, double lr) {
      return at_rate(results, search_of(grid, variant.name, placement), lr);
    };
    return kit::LineChart{.title = placement,
                          .x_label = "learning rate (log scale)",
                          .y_label = "nats per character",
                          .x_axis = kit::AxisKind::log,
                          .x_ticks = {1e-3, 1e-2},  // all four would print over each other
                          .series = lines(grid.variants, grid.rates, losses)};
  };
  page.figure(
      "jacobians-rates", panels("Final loss against the learning rate", kPlacements, chart),
      fmt::format(
          "Validation loss after {} steps with {} layers: {}. “σ constant” differentiates the mean but "
          "not the division by σ. {}",
          kSteps, kLayers, describe_losses(results, grid), describe_bands(grid.seeds.size())));
}

/// "costs 0.2 nats", "has no visible cost".
std::string describe_cost(const std::vector<double>& values) {
  if (values.empty()) return "is not measured";
  const Spread spread = spread_of(values);
  const std::string range = mean_and_range(values) + " nats";
  if (spread.low > 0.01) return "costs " + range + " on every seed";
  if (spread.high < -0.01) return "ends lower, by " + range + ", on every seed";
  if (spread.high <= 0.01 && spread.low >= -0.01) return "has no visible cost (" + range + ")";
  return "has a cost on some seeds only (" + range + ")";
}

void add_losses(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{.caption = "Loss minus that of the right backward, each at its best rate, nats",
                   .header = {"backward", "Pre-LN", "Post-LN", "runs that diverged"}};
  std::vector<std::string> sentences;
  for (const Variant& variant : grid.variants) {
    const auto lost_in = [&](const char* placement) { return lost(results, grid, variant.name, placement); };
    std::vector<double> diverged;
    for (const char* placement : kPlacements)
      for (const double one : of_all_rates(results, search_of(grid, variant.name, placement), "diverged"))
        diverged.push_back(one);
    table.rows.push_back({variant.title, mean_and_range(lost_in(kPlacements[0])),
                          mean_and_range(lost_in(kPlacements[1])), share_of(diverged)});
    if (variant.backward != NormBackward::right)
      sentences.push_back(fmt::format("**{}**: {} in Pre-LN, {} in Post-LN.", variant.title,
                                      describe_cost(lost_in(kPlacements[0])),
                                      describe_cost(lost_in(kPlacements[1]))));
  }
  page.html.list(sentences);
  page.html.table(table);
}

void add_settings(Page& page, const Grid& grid) {
  const TrialOptions defaults;
  page.html.paragraph(fmt::format(
      "GPTs of {} blocks, {} channels and {} heads on the recall language: {} steps of {} windows of {} "
      "characters, Adam (0.9, 0.999), no warm-up, no clipping. In the forward pass all variants give the "
      "same bits; only the gradient through a norm differs. All are trained at the rates {}; each seed takes "
      "the rate that is best on the other seeds. Guessing by frequency alone would give {} nats; the lowest "
      "possible loss is {}. A run counts as diverged when a loss is not finite or above 4 log(vocabulary); "
      "its loss is then the one it started from.",
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
  page.limits({
      "Small models and one task: what a wrong gradient costs at scale, or with gains far from 1, is open.",
      "Adam divides by the size of gradients, so a backward that is wrong by a factor costs little; with SGD "
      "it may cost more.",
      "“μⱼ” is read as the token's mean, and the backward as the formula's transpose times the gradient; "
      "another reading gives another wrong Jacobian.",
  });
}

}  // namespace gradus::lab::jacobians
