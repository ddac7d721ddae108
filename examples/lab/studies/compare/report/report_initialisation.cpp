// The report's section on measurements before the first step.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "gradus/core/check.h"
#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/analysis/start_sentence.h"
#include "lab/studies/compare/report/charts.h"
#include "lab/studies/compare/report/report.h"
#include "lab/studies/compare/start.h"
#include "lab/studies/stack.h"
#include "lab/training/weights.h"

namespace gradus::lab::compare {

namespace {

using kit::number_text;

constexpr std::int64_t kLayers = 32;  // the depth in the captions

const InitialState& state_at(const Initialisation& initialisation, const nn::Placement& placement,
                             std::int64_t layers) {
  for (const InitialState& state : initialisation.states)
    if (state.placement == placement && state.layers == layers) return state;
  fail_with("lab: depth {} was not measured at initialisation", layers);
}

/// "0.47 (0.17 to 4.4) times".
std::string format_shares(const std::vector<double>& share) {
  const Spread spread = spread_of(share);
  return fmt::format("{} ({} to {}) times", number_text(median(share), 2), number_text(spread.low, 2),
                     number_text(spread.high, 2));
}

using Shares = std::vector<double> InitialState::*;

/// At kLayers, by placement. Empty in files of older versions, and where there is no gradient.
std::array<std::vector<double>, 2> shares_of(const Initialisation& initialisation,
                                             const Placements& placements, Shares shares) {
  return {state_at(initialisation, placements[0], kLayers).*shares,
          state_at(initialisation, placements[1], kLayers).*shares};
}

std::string weights_caption(const Initialisation& initialisation, const Placements& placements) {
  const auto shares = shares_of(initialisation, placements, &InitialState::weight_share);
  std::string text =
      "Means over seeds, one line for each depth L; its last point is the block next to the loss.";
  if (!shares[0].empty() && !shares[1].empty())
    text += fmt::format(
        " At {} layers, the first block's gradient is {} the last block's for {} and {} for {}: medians, "
        "with the range over seeds.",
        kLayers, format_shares(shares[1]), placements[1].name, format_shares(shares[0]), placements[0].name);
  if (!contains(placements, nn::post_ln())) return text;
  const double alone = norms_alone(kLayers);
  const std::vector<double>& post = state_at(initialisation, nn::post_ln(), kLayers).weight_share;
  text +=
      fmt::format(" With the slope of appendix F (dotted), Post-LN would keep {}.", number_text(alone, 2));
  if (!post.empty() && median(post) > 10 * alone)
    text +=
        " That slope is due to the norms alone, each of which multiplies the gradient by √(2/3); the branch "
        "parallel to the shortcut adds its own share, which makes up for much of that.";
  return text;
}

std::string activations_caption(const Initialisation& initialisation, const Placements& placements) {
  const auto shares = shares_of(initialisation, placements, &InitialState::activation_share);
  std::string text = "The same for the output x of each block";
  if (shares[0].empty() || shares[1].empty()) return text + ".";
  text += fmt::format(
      ": at {} layers, the gradient after the first block is {} that after the last for {} and {} for {}.",
      kLayers, format_shares(shares[1]), placements[1].name, format_shares(shares[0]), placements[0].name);
  if (contains(placements, nn::post_ln()) &&
      median(state_at(initialisation, nn::post_ln(), kLayers).activation_share) < 0.7)
    text +=
        " In deep Post-LN stacks most of the drop is just below the top, where attention spreads the "
        "gradient of one position over all of them.";
  return text;
}

/// The first block of one placement against its last: "Xavier 0.5 (0.2 to 2)", for each kind of weights.
std::vector<std::string> first_blocks(const std::vector<InitialState>& schemes,
                                      const nn::Placement& placement) {
  std::vector<std::string> parts;
  for (const InitialState& state : schemes)
    if (state.placement == placement)
      parts.push_back(fmt::format("{} {} ({} to {})", weight_scheme(state.scheme).title,
                                  number_text(state.median.front(), 2), number_text(state.low.front(), 2),
                                  number_text(state.high.front(), 2)));
  return parts;
}

/// Compares Post-LN's gradient with the one its norms alone would leave.
std::string describe_norms_alone(const std::vector<InitialState>& schemes) {
  double least = INFINITY;
  for (const InitialState& state : schemes)
    if (state.placement == nn::post_ln()) least = std::min(least, state.low.front());
  return fmt::format(
      "The norms alone would leave {}; the lowest of these seeds keeps {} (more seeds would find lower "
      "values). ",
      number_text(norms_alone(schemes.front().layers), 2), number_text(least, 2));
}

std::string schemes_caption(const std::vector<InitialState>& schemes, const Placements& placements) {
  const bool post = contains(placements, nn::post_ln());
  const nn::Placement& described = post ? nn::post_ln() : placements[1];
  return fmt::format(
      "Do gradients vanish toward the first block? Several initial weights at {} layers; all but the first "
      "with 4 heads, an FFN four times as wide, and queries and keys drawn like the rest. Lines: median over "
      "seeds; bands: from the lowest to the highest. Gradient of {}'s first block over that of its last: {}. "
      "{}At this width a standard deviation of 0.02 is small, so the branches hardly matter. These are "
      "gradients before the first step; they say nothing about later ones.",
      schemes.front().layers, described.name, listed(first_blocks(schemes, described)),
      post ? describe_norms_alone(schemes) : "");
}

/// Whether Theorem 1 and Lemma 2 are about one of them.
bool knows_theorem(const Placements& two) {
  return contains(two, nn::pre_ln()) || contains(two, nn::post_ln());
}

std::string describe_setting(const Placements& two) {
  std::string text = fmt::format(
      "The setting is {2} (arXiv:2002.04745, section 3): one head, all matrices {0} × {0} with entries from "
      "N(0, 1/{0}), uniform attention, Gaussian input, gain 1, bias 0; here with {1} positions, {3} classes "
      "and {4} seeds. The loss is taken **at one position**: the gradient of a mean over positions can grow "
      "with depth for a reason {5}: uniform attention makes positions alike.",
      kStackWidth, kStackPositions, knows_theorem(two) ? "theirs" : "that of Xiong et al. 2020",
      kStackClasses, StartOptions().seeds,
      knows_theorem(two) ? "that the theorem does not cover" : "that has nothing to do with placements");
  for (const nn::Placement& placement : two)
    if (placement.init)
      text += fmt::format(" {} draws its own matrices, here and in every panel of the last figure.",
                          placement.name);
  return text;
}

std::string theorem_caption(const Placements& two) {
  const bool pre = contains(two, nn::pre_ln()), post = contains(two, nn::post_ln());
  std::string text = "Mean and standard deviation over seeds.";
  if (pre || post) text += " Theorem 1 bounds ";
  if (post) text += "Post-LN's gradient by a value that does not depend on L";
  if (pre && post)
    text += " and Pre-LN's by one that falls like the dotted line, drawn through the first point";
  if (pre && !post)
    text += "Pre-LN's gradient by a value that falls like the dotted line, drawn through the first point";
  return text + (pre || post ? "." : "");
}

std::string lemma_caption(const Placements& two, std::int64_t d_model) {
  const bool pre = contains(two, nn::pre_ln()), post = contains(two, nn::post_ln());
  std::string text = fmt::format("{}ectors of size d = {}.", pre || post ? "Lemma 2, with v" : "V", d_model);
  if (pre)
    text +=
        " In Pre-LN nothing normalizes the shortcut, and it grows with every branch: the shaded band is (1 + "
        "l/2) to (1 + 3l/2).";
  if (post) text += " Post-LN adds one branch to a normalized vector: 3/2, the dotted line.";
  return text;
}

void add_jacobian(Page& page, const JacobianCheck& jacobian) {
  page.html.subheading("The Jacobian of layer norm");
  page.html.paragraph(
      "Each formula is compared with central differences at a random x of size 6 in double precision. Both "
      "wrong forms appear in teaching material; a backward pass built from one of them would run without an "
      "error.");
  page.html.table(
      {"",
       {"∂ LN(x)ᵢ / ∂xⱼ", "largest error"},
       {{"(I − 11ᵀ/d − x̂x̂ᵀ/d) / σ, and this library's backward pass", number_text(jacobian.max_error, 2)},
        {"(δᵢⱼ − μⱼ) / σ", number_text(jacobian.wrong_mean_only, 2)},
        {"(I − 11ᵀ/d) / σ, which treats σ as a constant", number_text(jacobian.wrong_constant_sigma, 2)}}});
}

}  // namespace

void add_initialisation(Page& page, const Results& results) {
  page.html.heading("Before the first step");
  if (!results.initialisation) {
    page.html.paragraph("Not measured, or not yet.");
    return;
  }
  const Initialisation& start = *results.initialisation;
  const Placements& two = results.settings.placements;
  page.html.paragraph(start_sentence(start.states, two));
  page.html.paragraph(describe_setting(two));
  page.figure("initial_top_gradient", top_gradient_chart(start, two), theorem_caption(two));
  page.figure("initial_norms", norm_chart(start, two), lemma_caption(two, kStackWidth));
  page.figure("initial_weight_gradients", gradient_panels(start, two, true), weights_caption(start, two));
  page.figure("initial_activation_gradients", gradient_panels(start, two, false),
              activations_caption(start, two));
  page.figure("initial_schemes", scheme_panels(start.schemes, two), schemes_caption(start.schemes, two));
  add_jacobian(page, start.jacobian);
}

}  // namespace gradus::lab::compare
