#include "lab/studies/start/report.h"

#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"

namespace gradus::lab::start {

namespace {

std::vector<Titled> formula_schemes() {
  std::vector<Titled> all;
  for (const char* scheme : kFormulaSchemes) all.push_back({scheme, formula_title(scheme)});
  return all;
}

}  // namespace

void add_formulas(Page& page, const StudyResults& results) {
  page.html.heading("Printed formulas");
  page.html.paragraph(
      "The stacks have six blocks of 16 channels on 4 positions, in f64, with GELU because it is smooth. "
      "Jacobians are exact, by automatic differentiation; errors are relative, in the Frobenius norm: 0 "
      "means right, and a Jacobian of zeros would have error 1.");
  const auto cell = [&](const Titled& formula, const Titled& scheme) {
    return mean_and_range(formulas_of(results, scheme.name).numbers(formula.name));
  };
  const Titled errors[] = {{"sum.pre", "Pre-LN: I + Σ dF"},
                           {"product.pre", "Pre-LN: ∏ (I + dF)"},
                           {"product.post", "Post-LN: ∏ (I + dF)"},
                           {"full.post", "Post-LN: ∏ J_LN (I + dF)"},
                           {"chain.pre", "Pre-LN, one sublayer: 1 + df/dLN · dLN/dx"},
                           {"chain.post", "Post-LN, one sublayer: dLN/dz (1 + df/dx)"}};
  page.html.table(
      cross_table("Error of a formula for the Jacobian of the stack, mean (lowest to highest seed)",
                  "formula", errors, formula_schemes(), cell));
  const auto error_of_sum = [&](const char* scheme) {
    return mean(finite(formulas_of(results, scheme).numbers("sum.pre")));
  };
  const double sum = error_of_sum("fan_in"), small = error_of_sum("gpt2");
  if (std::isfinite(sum) && std::isfinite(small))
    page.html.paragraph(fmt::format(
        "Both placements' gradients are products. The sum is a Pre-LN stack's to first order in the "
        "branches: its error is {} with weights of 1/fan_in and {} with GPT-2's small ones, whose branches "
        "have almost no effect in 16 channels; with weights scaled to have the effect they have in GPT-2's "
        "768 channels, the error is {}.",
        kit::number_text(sum, 2), kit::number_text(small, 2), kit::number_text(error_of_sum("gpt2-768"), 2)));
  page.html.paragraph(
      "Read with norms of matrices, the formulas for the size of a gradient are upper bounds: the ratios in "
      "this table are at most 1. A ratio of 1 would mean equality.");
  const Titled norms[] = {{"formula.pre", "Pre-LN: 1 + ‖dF‖"}, {"formula.post", "Post-LN: ‖dLN‖ (1 + ‖dF‖)"}};
  page.html.table(
      cross_table("A gradient's growth through a sublayer divided by the formula's, geometric mean of 12",
                  "formula", norms, formula_schemes(), cell));
}

void add_tokens(Page& page, const StudyResults& results) {
  page.html.heading("The information that remains of a token");
  page.html.paragraph(
      "Ridge regression on x and |x| reads a token's scale (the standard deviation of its logarithm is 0.3) "
      "and direction from the output of six blocks of 32 channels: 2000 tokens to fit, 1000 to measure on. "
      "R² is the share of variance that is recovered: 1 is all of it, 0 none.");
  const Titled sources[] = {{"input", "the input itself"},
                            {"branch", "LN(x), the input of Pre-LN's first branch"},
                            {"pre", "the stream of Pre-LN after six blocks"},
                            {"pre-normed", "the same after the final norm"},
                            {"post", "the stream of Post-LN after six blocks"}};
  const Titled targets[] = {{"norm.", "scale"}, {"direction.", "direction"}};
  page.html.table(cross_table("R² of the read-out, mean (lowest to highest seed)", "read from", sources,
                              targets, [&](const Titled& source, const Titled& target) {
                                return mean_and_range(
                                    information_of(results).numbers(target.name + source.name));
                              }));
  page.html.subheading("Large branches, large inputs");
  page.html.paragraph(
      "A norm divides by the size of its input: outputs keep their length whatever the size of F.");
  const Titled ratios[] = {{"output.", "length of the output, branches × 1000"},
                           {"gradient.", "gradient of the input, branches × 1000"},
                           {"output.input.", "length of the output, input × 1000"}};
  page.html.table(cross_table("Ratio to the original with branches, or the input, 1000 times as large", "",
                              ratios, kPlacements, [&](const Titled& ratio, const Titled& placement) {
                                return mean_and_range(
                                    scaled_of(results).numbers(ratio.name + placement.name));
                              }));
}

void report(Page& page, const StudyResults& results) {
  add_signal(page, results);
  add_gradients(page, results);
  add_shortcuts(page, results);
  add_formulas(page, results);
  add_tokens(page, results);
  add_training(page, results);
  add_regulation(page, results);
  page.limits({
      "Trained models: most of this page is about random weights, and the training is a hundred steps of a "
      "small model, or 1500 where sublayers are measured.",
      "That a gradient is small or large says nothing yet about whether a model trains: Adam divides by it.",
      "Other losses: at the start the loss is that of one position, which is this page's choice; theorem 1 "
      "is about a mean over positions, which has its own trend, since attention makes positions alike.",
      "Other widths and lengths: intervals cover new draws of weights and inputs, with 64 channels and 8 "
      "positions throughout, except for the formulas and read-outs.",
  });
}

}  // namespace gradus::lab::start
