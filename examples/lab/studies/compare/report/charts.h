#pragma once
// The charts of a report. The two placements have styles 0 and 1 in all of them.

#include "gradus/kit/chart/chart.h"
#include "lab/studies/compare/analysis/analysis.h"

namespace gradus::lab::compare {

// At initialisation.

/// |dL/dW2| of the last block against depth: Theorem 1.
kit::LineChart top_gradient_chart(const Initialisation& initialisation, const Placements& placements);
/// E|x|^2/d layer by layer in the deepest model, with the bounds of Lemma 2 if it is about one of the two.
kit::LineChart norm_chart(const Initialisation& initialisation, const Placements& placements);
/// Gradients of W2, or of the activations, block by block for each depth, with the slope of appendix F.
kit::Panels gradient_panels(const Initialisation& initialisation, const Placements& placements,
                            bool of_weights);
/// |dL/dW2| block by block over that of the last block, a panel for each of several initial weights.
kit::Panels scheme_panels(const std::vector<InitialState>& schemes, const Placements& placements);

// Training. Charts of several depths have a row for each, and a column for each warm-up or rate.

/// Final loss against the learning rate.
kit::Panels loss_by_rate(const Analysis& analysis);
/// Final loss above the entropy by depth and rate, the placements alternating.
kit::HeatMap loss_map(const Analysis& analysis, std::int64_t warmup);
/// Training loss against steps, by depth and rate.
kit::Panels loss_curves(const Analysis& analysis, std::int64_t warmup);
/// Learning-rate sensitivity against depth.
kit::Panels sensitivity_panels(const Analysis& analysis);
/// Steps to the target loss against the learning rate.
kit::Panels steps_panels(const Analysis& analysis);
/// Norm of the whole gradient against steps at one rate.
kit::Panels gradient_norm_panels(const Analysis& analysis, double lr);
/// Training loss of the ablations and of the models they change.
kit::Panels ablation_curves(const Analysis& analysis);

/// "no warm-up", "warm-up 100".
std::string warmup_title(std::int64_t warmup);

}  // namespace gradus::lab::compare
