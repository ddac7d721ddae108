#include "lab/studies/compare/analysis/start_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/error.h"
#include "gradus/kit/chart/axis.h"

namespace gradus::lab::compare {

namespace {

bool within(double ratio, double low, double high) { return ratio >= low && ratio <= high; }

/// Whether the gradient changes with depth as the bound of Theorem 1 does.
bool post_is_flat(const Theorem1& theorem) {
  return within(theorem.post_ratio_L32_L2.value(), kPostRatioLow, kPostRatioHigh);
}
bool pre_falls(const Theorem1& theorem) {
  return within(theorem.pre_ratio_L8_L32.value(), kPreRatioLow, kPreRatioHigh);
}

/// How the gradient of one placement's last block changes with depth.
std::string depth_clause(const std::vector<InitialState>& states, const Theorem1& theorem,
                         const nn::Placement& placement) {
  if (placement == nn::post_ln())
    return fmt::format("{} in Post-LN (32 layers over 2: {})",
                       post_is_flat(theorem) ? "is about the same at any depth" : "changes with depth",
                       kit::fixed_text(*theorem.post_ratio_L32_L2, 2));
  if (placement == nn::pre_ln())
    return fmt::format("{} in Pre-LN (8 layers over 32: {}; 1/√L gives 2)",
                       pre_falls(theorem) ? "shrinks with depth" : "does not shrink like 1/√L",
                       kit::fixed_text(*theorem.pre_ratio_L8_L32, 2));
  const double shallow = top_gradient(states, placement, 2), deep = top_gradient(states, placement, 32);
  if (shallow == 0) return fmt::format("is 0 in {}", placement.name);
  if (!std::isfinite(deep)) return fmt::format("is no longer finite with 32 layers in {}", placement.name);
  const double ratio = deep / shallow;
  return fmt::format("{} in {} (32 layers over 2: {})",
                     ratio > kPostRatioHigh  ? "grows with depth"
                     : ratio < kPostRatioLow ? "shrinks with depth"
                                             : "is about the same at any depth",
                     placement.name, kit::number_text(ratio, 2));
}

/// The bounds of Theorem 1 for the placements that are compared; empty if it covers neither.
std::string bounds_sentence(const Theorem1& theorem) {
  const bool pre = theorem.pre_ratio_L8_L32.has_value(), post = theorem.post_ratio_L32_L2.has_value();
  if (!pre && !post) return "";
  if ((!pre || pre_falls(theorem)) && (!post || post_is_flat(theorem)))
    return pre && post ? " So do the upper bounds of Theorem 1 of Xiong et al., one without L, one with 1/√L"
           : pre       ? " So does the upper bound of Theorem 1 of Xiong et al. for Pre-LN, with 1/√L"
                       : " So does the upper bound of Theorem 1 of Xiong et al. for Post-LN, without L";
  return pre && post ? " The upper bounds of Theorem 1 of Xiong et al. behave differently, one without L, "
                       "one with 1/√L, but gradients below a bound do not contradict it"
                     : fmt::format(
                           " The upper bound of Theorem 1 of Xiong et al. for {} behaves differently, but "
                           "gradients below a bound do not contradict it",
                           pre ? "Pre-LN, with 1/√L," : "Post-LN, without L,");
}

bool inside_lemma2(const InitialState& state) {
  for (std::size_t l = 1; l <= state.norm_squared.size(); ++l) {
    const double norm = state.norm_squared[l - 1], low = 1 + 0.5 * static_cast<double>(l),
                 high = 1 + 1.5 * static_cast<double>(l);
    if (norm < low || norm > high) return false;
  }
  return true;
}

}  // namespace

double top_gradient(const std::vector<InitialState>& states, const nn::Placement& placement,
                    std::int64_t layers) {
  for (const InitialState& state : states)
    if (state.placement == placement && state.layers == layers) return state.top_gradient;
  throw Error("check_theorem1: depth " + std::to_string(layers) + " was not measured");
}

Theorem1 check_theorem1(const std::vector<InitialState>& states) {
  const auto of = [](const nn::Placement& placement) {
    return [&placement](const InitialState& state) { return state.placement == placement; };
  };
  const auto ratio = [&](const nn::Placement& placement, std::int64_t above, std::int64_t below) {
    return top_gradient(states, placement, above) / top_gradient(states, placement, below);
  };
  Theorem1 result;
  if (std::any_of(states.begin(), states.end(), of(nn::post_ln())))
    result.post_ratio_L32_L2 = ratio(nn::post_ln(), 32, 2);
  if (std::any_of(states.begin(), states.end(), of(nn::pre_ln()))) {
    result.pre_ratio_L8_L32 = ratio(nn::pre_ln(), 8, 32);
    result.pre_norm_inside_lemma2 = std::all_of(states.begin(), states.end(), [&](const InitialState& state) {
      return state.placement != nn::pre_ln() || inside_lemma2(state);
    });
  }
  return result;
}

std::string start_sentence(const std::vector<InitialState>& states, const Placements& placements) {
  for (const nn::Placement& placement : placements)
    top_gradient(states, placement, 32);  // throws if not there
  const Theorem1 theorem = check_theorem1(states);
  std::string text = fmt::format("Before the first step the gradient of the last block {} and {}.",
                                 depth_clause(states, theorem, placements[1]),
                                 depth_clause(states, theorem, placements[0])) +
                     bounds_sentence(theorem);
  if (theorem.pre_norm_inside_lemma2)
    text += fmt::format("; the mean size of Pre-LN's activations {} the bounds of their Lemma 2",
                        *theorem.pre_norm_inside_lemma2 ? "stays within" : "leaves");
  return text.ends_with('.') ? text : text + ".";
}

}  // namespace gradus::lab::compare
