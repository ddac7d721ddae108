#include "lab/studies/start/report.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

using Values = std::vector<double>;

Values over_seeds(const StudyResults& results, const std::string& placement, const std::string& scheme,
                  std::int64_t layers, const std::string& number) {
  Values values;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (const std::string run = stack_name(placement, scheme, layers, seed); results.has(run))
      values.push_back(results.number(run, number));
  return values;
}

std::vector<Values> curves_of(const StudyResults& results, const std::string& placement,
                              const std::string& scheme, const std::string& series) {
  std::vector<Values> curves;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (const std::string run = stack_name(placement, scheme, kDepth, seed); results.has(run))
      curves.push_back(results.series(run, series));
  return curves;
}

kit::Series geometric(kit::Series series, const std::vector<Values>& values) {
  std::size_t at = 0;
  for (const Values& seeds : values)
    if (!finite(seeds).empty()) series.y.at(at++) = geometric_mean(seeds);
  return series;
}

double geometric_mean(const Values& values) {
  Values logs = finite(values);
  for (double& value : logs) value = std::log(value);
  return std::exp(mean(finite(logs)));  // without those that are 0
}

namespace {

Values of_runs(const StudyResults& results, const std::function<std::string(std::uint64_t)>& name,
               const std::string& number) {
  Values values;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (const std::string run = name(seed); results.has(run)) values.push_back(results.number(run, number));
  return values;
}

Values of_formulas(const StudyResults& results, const std::string& scheme, const std::string& number) {
  return of_runs(
      results, [&](std::uint64_t seed) { return formulas_name(scheme, seed); }, number);
}

struct Row {
  const char* number;
  const char* words;
};

}  // namespace

void add_formulas(Page& page, const StudyResults& results) {
  page.html.heading("Printed formulas");
  page.html.paragraph(
      "Six blocks of 16 channels on 4 positions, in f64, GELU for its want of kinks. Jacobians are exact, by "
      "automatic differentiation; errors are relative, in the Frobenius norm: 0 is right, 1 as wrong as "
      "saying "
      "nothing.");
  kit::Table table{
      .caption = "Error of a formula for the Jacobian of the stack, mean (lowest to highest seed)",
      .header = {"formula"}};
  for (const char* scheme : kFormulaSchemes) table.header.emplace_back(formula_title(scheme));
  constexpr Row kRows[] = {{"sum.pre", "Pre-LN: I + Σ dF"},
                           {"product.pre", "Pre-LN: ∏ (I + dF)"},
                           {"product.post", "Post-LN: ∏ (I + dF)"},
                           {"full.post", "Post-LN: ∏ J_LN (I + dF)"},
                           {"chain.pre", "Pre-LN, one sublayer: 1 + df/dLN · dLN/dx"},
                           {"chain.post", "Post-LN, one sublayer: dLN/dz (1 + df/dx)"}};
  for (const Row& row : kRows) {
    table.rows.push_back({row.words});
    for (const char* scheme : kFormulaSchemes)
      table.rows.back().push_back(mean_and_range(of_formulas(results, scheme, row.number)));
  }
  page.html.table(table);
  const double sum = mean(finite(of_formulas(results, "fan_in", "sum.pre")));
  const double small = mean(finite(of_formulas(results, "gpt2", "sum.pre")));
  if (std::isfinite(sum) && std::isfinite(small))
    page.html.paragraph(
        fmt::format("Both placements' gradients are products. The sum is a Pre-LN stack's to first order in "
                    "the branches: with weights of 1/fan_in it is off by {} of the whole, with GPT-2's small "
                    "ones by {}, since in 16 channels these make branches that do next to nothing; scaled to "
                    "do what they do in GPT-2's 768, by {}.",
                    kit::number_text(sum, 2), kit::number_text(small, 2),
                    kit::number_text(mean(finite(of_formulas(results, "gpt2-768", "sum.pre"))), 2)));
  kit::Table norms{
      .caption = "A gradient's growth through a sublayer over the formula's, geometric mean of 12",
      .header = {"formula"}};
  for (const char* scheme : kFormulaSchemes) norms.header.emplace_back(formula_title(scheme));
  for (const Row& row :
       {Row{"formula.pre", "Pre-LN: 1 + ‖dF‖"}, Row{"formula.post", "Post-LN: ‖dLN‖ (1 + ‖dF‖)"}}) {
    norms.rows.push_back({row.words});
    for (const char* scheme : kFormulaSchemes)
      norms.rows.back().push_back(mean_and_range(of_formulas(results, scheme, row.number)));
  }
  page.html.paragraph(
      "With norms of matrices in their places the formulas for the size of a gradient are upper bounds: at "
      "most 1 in this table. 1 would be an equation.");
  page.html.table(norms);
}

void add_tokens(Page& page, const StudyResults& results) {
  page.html.heading("What is left of a token");
  page.html.paragraph(
      "A token's scale (the deviation of its logarithm is 0.3) and direction, read by ridge regression on x "
      "and "
      "|x| from what six blocks of 32 channels make of it: 2000 tokens to fit, 1000 to measure on. R² is the "
      "share of variance that is read: 1 all, 0 none.");
  kit::Table table{.caption = "R² of the read-out, mean (lowest to highest seed)",
                   .header = {"read from", "scale", "direction"}};
  constexpr Row kRows[] = {{"input", "the input itself"},
                           {"branch", "LN(x), what the first branch of Pre-LN sees"},
                           {"pre", "the stream of Pre-LN after six blocks"},
                           {"pre-normed", "the same behind the final norm"},
                           {"post", "the stream of Post-LN after six blocks"}};
  for (const Row& row : kRows) {
    table.rows.push_back({row.words});
    for (const char* what : {"norm", "direction"})
      table.rows.back().push_back(
          mean_and_range(of_runs(results, information_name, fmt::format("{}.{}", what, row.number))));
  }
  page.html.table(table);
  page.html.subheading("Large branches, large inputs");
  kit::Table scaled{.caption = "With branches, or the input, 1000 times as large: over what it was before",
                    .header = {"", "Pre-LN", "Post-LN"}};
  for (const Row& row : {Row{"output.", "length of the output, branches × 1000"},
                         Row{"gradient.", "gradient of the input, branches × 1000"},
                         Row{"output.input.", "length of the output, input × 1000"}}) {
    scaled.rows.push_back({row.words});
    for (const char* placement : kPlacements)
      scaled.rows.back().push_back(
          mean_and_range(of_runs(results, scaled_name, std::string(row.number) + placement)));
  }
  page.html.paragraph(
      "A norm divides by what it is given: outputs keep their length whatever the size of F.");
  page.html.table(scaled);
}

void report(Page& page, const StudyResults& results) {
  add_signal(page, results);
  add_gradients(page, results);
  add_shortcuts(page, results);
  add_formulas(page, results);
  add_tokens(page, results);
  add_training(page, results);
  page.html.heading("What this does not show");
  page.html.list({
      "Trained models: most of this page is about random weights, and the training about a hundred steps of "
      "a "
      "small one.",
      "That a gradient is small or large says nothing yet about whether a model trains: Adam divides by it.",
      "Other losses: at the start the loss is that of one position, which is this page's choice; theorem 1 "
      "speaks of a mean over positions, which has a trend of its own, since attention makes positions alike.",
      "Intervals cover weights and inputs that are drawn anew, not other widths or lengths: 64 channels and "
      "8 "
      "positions throughout, but for the formulas and read-outs.",
  });
}

}  // namespace gradus::lab::start
