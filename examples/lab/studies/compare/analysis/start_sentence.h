#pragma once
// What was measured before the first step, against Theorem 1 and Lemma 2 of Xiong et al. 2020.

#include "lab/studies/compare/analysis/results.h"

namespace gradus::lab::compare {

/// The gradient of the last block in one placement and depth; throws where it was not measured.
double top_gradient(const std::vector<InitialState>& states, const nn::Placement& placement,
                    std::int64_t layers);

/// What the theorem says of Pre-LN and of Post-LN, where they were measured.
struct Theorem1 {
  std::optional<double> post_ratio_L32_L2;  // of the theorem's upper bounds: 1
  std::optional<double> pre_ratio_L8_L32;   // of the theorem's upper bounds: sqrt(32 / 8) = 2
  // (1 + l/2) d <= mean |x_l|^2 <= (1 + 3l/2) d at every depth measured
  std::optional<bool> pre_norm_inside_lemma2;
};

/// Throws unless depths 2, 8 and 32 were measured.
Theorem1 check_theorem1(const std::vector<InitialState>& states);

/// Whether the gradients of phase 1 go with depth as the upper bounds of Theorem 1 do, and the sizes of
/// activations stay inside those of Lemma 2 (Xiong et al. 2020); of placements they do not speak of, how they
/// go. What random weights of this size make of "about 1" and "about 2" is inside these bands.
std::string start_sentence(const std::vector<InitialState>& states, const Placements& placements);
constexpr double kPostRatioLow = 0.8, kPostRatioHigh = 1.4;
constexpr double kPreRatioLow = 1.6, kPreRatioHigh = 2.5;

}  // namespace gradus::lab::compare
