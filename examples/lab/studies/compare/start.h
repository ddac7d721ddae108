#pragma once
// Two placements before the first step: the setting of Xiong et al. 2020, section 3
// ("On layer normalization in the Transformer architecture"), and stacks with other initial weights, measured
// on the library's own blocks (studies/stack.h).
//
// The loss is the cross-entropy AT ONE POSITION: the gradient of a mean over positions can show a trend with
// depth that the theorem does not cover, because uniform attention makes positions alike (docs/lab.md
// measures it).

#include "lab/studies/compare/analysis/results.h"
#include "lab/study/study.h"

namespace gradus::lab::compare {

struct StartOptions {
  nn::Placement placement = nn::pre_ln();
  std::string scheme = "xiong";
  std::int64_t layers = 32;
  std::uint64_t seed = 0;
  std::int64_t seeds = 10;

  /// "start-post-xiong-L32"
  std::string name() const;
};

/// Xiong et al.'s weights at several depths, then others at one; both placements alternating.
std::vector<StartOptions> plan_starts(const Placements& placements, std::uint64_t seed);

/// Weights and input depend on depth and seed only: both placements get the same ones.
InitialState measure_start(const StartOptions& options);
Initialisation measure_initialisation(const Placements& placements, std::uint64_t seed = 0);

/// Converts to a run of the study, and back.
Measured measured_of(const InitialState& state);
InitialState state_of(const StartOptions& options, const StudyResults& results);

/// States in the order of plan_starts().
Initialisation initialisation_of(const std::vector<InitialState>& states, const JacobianCheck& jacobian);

}  // namespace gradus::lab::compare
