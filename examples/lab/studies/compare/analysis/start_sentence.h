#pragma once
// Compares the measurements before the first step with Theorem 1 and Lemma 2 of Xiong et al. 2020.

#include "lab/studies/compare/analysis/results.h"

namespace gradus::lab::compare {

/// The gradient of the last block in one placement and depth; throws where it was not measured.
double top_gradient(const std::vector<InitialState>& states, const nn::Placement& placement,
                    std::int64_t layers);

/// The ratios that the theorem bounds, for Pre-LN and Post-LN where they were measured.
struct Theorem1 {
  std::optional<double> post_ratio_L32_L2;  // of the theorem's upper bounds: 1
  std::optional<double> pre_ratio_L8_L32;   // of the theorem's upper bounds: sqrt(32 / 8) = 2
  // (1 + l/2) d <= mean |x_l|^2 <= (1 + 3l/2) d at every depth measured
  std::optional<bool> pre_norm_inside_lemma2;
};

/// Throws unless depths 2, 8 and 32 were measured.
Theorem1 check_theorem1(const std::vector<InitialState>& states);

/// Whether gradients change with depth as the upper bounds of Theorem 1 do, and the sizes of activations stay
/// inside those of Lemma 2 (Xiong et al. 2020); for other placements, how gradients change. The bands allow
/// for the scatter of random weights of this size around 1 and 2.
std::string start_sentence(const std::vector<InitialState>& states, const Placements& placements);
constexpr double kPostRatioLow = 0.8, kPostRatioHigh = 1.4;
constexpr double kPreRatioLow = 1.6, kPreRatioHigh = 2.5;

}  // namespace gradus::lab::compare
