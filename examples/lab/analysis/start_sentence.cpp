// What was measured before the first step, in a sentence.

#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/analysis/verdict.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

bool within(double ratio, double low, double high) { return ratio >= low && ratio <= high; }

/// Whether the gradient goes with depth as the bound of Theorem 1 does.
bool post_is_flat(const Theorem1& theorem) {
  return within(theorem.post_ratio_L32_L2.value(), kPostRatioLow, kPostRatioHigh);
}
bool pre_falls(const Theorem1& theorem) {
  return within(theorem.pre_ratio_L8_L32.value(), kPreRatioLow, kPreRatioHigh);
}

/// What becomes of the gradient of one placement's last block with depth.
std::string depth_clause(const std::vector<InitialState>& states, const Theorem1& theorem,
                         const Placement& placement) {
  if (placement == Placement::post)
    return fmt::format("{} in Post-LN (32 layers over 2: {})",
                       post_is_flat(theorem) ? "is about the same at any depth" : "changes with depth",
                       kit::fixed_text(*theorem.post_ratio_L32_L2, 2));
  if (placement == Placement::pre)
    return fmt::format("{} in Pre-LN (8 layers over 32: {}; 1/√L gives 2)",
                       pre_falls(theorem) ? "shrinks with depth" : "does not shrink like 1/√L",
                       kit::fixed_text(*theorem.pre_ratio_L8_L32, 2));
  const double shallow = top_gradient(states, placement, 2), deep = top_gradient(states, placement, 32);
  if (shallow == 0) return fmt::format("is 0 in {}", title_of(placement));
  if (!std::isfinite(deep))
    return fmt::format("is no longer finite with 32 layers in {}", title_of(placement));
  const double ratio = deep / shallow;
  return fmt::format("{} in {} (32 layers over 2: {})",
                     ratio > kPostRatioHigh  ? "grows with depth"
                     : ratio < kPostRatioLow ? "shrinks with depth"
                                             : "is about the same at any depth",
                     title_of(placement), kit::number_text(ratio, 2));
}

/// Of the bounds of Theorem 1, those of the placements that are compared; empty where it is neither.
std::string bounds_sentence(const Theorem1& theorem) {
  const bool pre = theorem.pre_ratio_L8_L32.has_value(), post = theorem.post_ratio_L32_L2.has_value();
  if (!pre && !post) return "";
  if ((!pre || pre_falls(theorem)) && (!post || post_is_flat(theorem)))
    return pre && post ? " So do the upper bounds of Theorem 1 of Xiong et al., one without L, one with 1/√L"
           : pre       ? " So does the upper bound of Theorem 1 of Xiong et al. for Pre-LN, with 1/√L"
                       : " So does the upper bound of Theorem 1 of Xiong et al. for Post-LN, without L";
  return pre && post ? " The upper bounds of Theorem 1 of Xiong et al. go otherwise, one without L, one with "
                       "1/√L, but gradients below a bound do not contradict it"
                     : fmt::format(
                           " The upper bound of Theorem 1 of Xiong et al. for {} goes otherwise, but "
                           "gradients below a bound do not contradict it",
                           pre ? "Pre-LN, with 1/√L," : "Post-LN, without L,");
}

}  // namespace

std::string start_sentence(const std::vector<InitialState>& states, const Placements& placements) {
  for (const Placement& placement : placements) top_gradient(states, placement, 32);  // throws if not there
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

}  // namespace gradus::lab
