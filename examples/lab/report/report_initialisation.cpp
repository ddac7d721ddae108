// The report's section on what can be seen before the first step.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/program/detail/check.h"
#include "lab/analysis/verdict.h"
#include "lab/names.h"
#include "lab/report/charts.h"
#include "lab/report/page.h"

namespace gradus::lab {

namespace {

using kit::number_text;

constexpr std::int64_t kLayers = 32;  // the depth the captions speak of

const InitialState& state_at(const Initialisation& initialisation, Placement placement, std::int64_t layers) {
  for (const InitialState& state : initialisation.states)
    if (state.placement == placement && state.layers == layers) return state;
  kit::fail_with("lab: depth {} was not measured at initialisation", layers);
}

/// "0.47 (0.17 to 4.4) times".
std::string share_words(const std::vector<double>& share) {
  const Spread spread = spread_of(share);
  return fmt::format("{} ({} to {}) times", number_text(median(share), 2), number_text(spread.low, 2),
                     number_text(spread.high, 2));
}

std::string weights_caption(const Initialisation& initialisation) {
  const std::vector<double>&post = state_at(initialisation, Placement::post, kLayers).weight_share,
        &pre = state_at(initialisation, Placement::pre, kLayers).weight_share;
  const double alone = norms_alone(kLayers);
  std::string text = "Means over seeds; a line for each depth L, its last point next to the loss.";
  if (!post.empty() && !pre.empty())
    text += fmt::format(
        " In this setting we measured, at {} layers, in the first block {} the gradient of the last for "
        "Post-LN and {} for Pre-LN: medians, and from the least to the largest of the seeds.",
        kLayers, share_words(post), share_words(pre));
  text += fmt::format(" The dotted slope of appendix F would leave Post-LN {}.", number_text(alone, 2));
  if (!post.empty() && median(post) > 10 * alone)
    text +=
        " It counts the norms alone, each of which shrinks a gradient by √(2/3); the branch beside the "
        "shortcut adds its own share, which makes up for much of that.";
  return text;
}

std::string activations_caption(const Initialisation& initialisation) {
  const std::vector<double>&post = state_at(initialisation, Placement::post, kLayers).activation_share,
        &pre = state_at(initialisation, Placement::pre, kLayers).activation_share;
  std::string text = "The same for the output x of each block";
  if (post.empty() || pre.empty()) return text + ".";
  text += fmt::format(
      ": at {} layers, after the first block {} the gradient after the last for Post-LN, {} for Pre-LN.",
      kLayers, share_words(post), share_words(pre));
  if (median(post) < 0.7)
    text +=
        " In deep Post-LN most of the fall is just below the top, where attention spreads the gradient of "
        "one position over all of them.";
  return text;
}

std::string schemes_caption(const std::vector<SchemeState>& schemes) {
  double least = INFINITY;
  std::vector<std::string> parts;
  for (const SchemeState& state : schemes) {
    if (state.placement == Placement::pre) continue;
    least = std::min(least, state.low.front());
    parts.push_back(fmt::format("{} {} ({} to {})", title_of(state.scheme),
                                number_text(state.median.front(), 2), number_text(state.low.front(), 2),
                                number_text(state.high.front(), 2)));
  }
  return fmt::format(
      "Do gradients vanish towards the first block? Several initial weights at {} layers; all but the first "
      "with 4 "
      "heads, an FFN four times as wide, and queries and keys drawn like the rest. Lines: median over seeds; "
      "bands: "
      "from the lowest to the highest. The first block of Post-LN has, of the last one's gradient: {}. The "
      "norms "
      "alone would leave {}; the least of these seeds has {} (more seeds would find smaller ones). At this "
      "width 0.02 is small: the branches hardly "
      "count. "
      "This is before the first step; it says nothing of later ones.",
      schemes.front().layers(), listed(parts), number_text(norms_alone(schemes.front().layers()), 2),
      number_text(least, 2));
}

void add_jacobian(Page& page, const JacobianCheck& jacobian) {
  page.html.subheading("The Jacobian of layer norm");
  page.html.paragraph(
      "At a random x of size 6 in double precision, against central differences. Both wrong forms stand in "
      "teaching material; a backward pass made of one of them would run without complaint.");
  page.html.table(
      {"",
       {"∂ LN(x)ᵢ / ∂xⱼ", "largest error"},
       {{"(I − 11ᵀ/d − x̂x̂ᵀ/d) / σ, and this library's backward pass", number_text(jacobian.max_error, 2)},
        {"(δᵢⱼ − μⱼ) / σ", number_text(jacobian.wrong_mean_only, 2)},
        {"(I − 11ᵀ/d) / σ, which takes σ for a constant", number_text(jacobian.wrong_constant_sigma, 2)}}});
}

}  // namespace

void add_initialisation(Page& page, const Results& results) {
  page.html.heading("Before the first step");
  if (!results.initialisation) {
    page.html.paragraph("Not measured: the lab was stopped before.");
    return;
  }
  const Initialisation& start = *results.initialisation;
  const InitialisationOptions& options = results.config.options.initialisation;
  page.html.paragraph(theorem_sentence(check_theorem1(start.states)));
  page.html.paragraph(fmt::format(
      "The setting is theirs (arXiv:2002.04745, section 3): one head, all matrices {0} × {0} with entries "
      "from N(0, 1/{0}), uniform attention, Gaussian input, gain 1, bias 0; here with {1} positions, {2} "
      "classes and {3} seeds. The loss is taken **at one position**: that of a mean over positions can grow "
      "with "
      "depth for a reason the theorem does not speak of, since uniform attention makes positions alike.",
      options.d_model, options.positions, options.classes, options.seeds));
  page.figure("initial_top_gradient", top_gradient_chart(start),
              "Theorem 1. Mean and standard deviation over seeds. It bounds Post-LN's gradient by a number "
              "without L, Pre-LN's by one that falls like the dotted line, drawn through the first point.");
  page.figure("initial_norms", norm_chart(start),
              fmt::format("Lemma 2, with vectors of size d = {}. In Pre-LN nothing normalises the shortcut, "
                          "and it grows by every branch: the shaded band is (1 + l/2) to (1 + 3l/2). Post-LN "
                          "adds one branch to a normalised vector: 3/2, the dotted line.",
                          options.d_model));
  page.figure("initial_weight_gradients", gradient_panels(start, true), weights_caption(start));
  page.figure("initial_activation_gradients", gradient_panels(start, false), activations_caption(start));
  if (!start.schemes.empty())
    page.figure("initial_schemes", scheme_panels(start.schemes), schemes_caption(start.schemes));
  add_jacobian(page, start.jacobian);
}

}  // namespace gradus::lab
