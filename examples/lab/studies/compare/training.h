#pragma once
// One training of the comparison.

#include "gradus/nn/models/gpt.h"
#include "lab/studies/compare/analysis/results.h"
#include "lab/study/study.h"

namespace gradus::lab::compare {

/// The model with its initial weights: the same for both placements, seed by seed, except for values a
/// placement sets itself (DeepNorm its matrices, Admin its shortcuts on the first batch).
nn::GPT make_model(const Task& task, const RunOptions& run);

/// Trains with Adam: "final-loss" (NaN where it diverged), "diverged-at" (NaN where it did not),
/// "start-loss", the text "parameters-sha256", the series "losses" and "gradient-norms", one value per step.
/// Everything depends on the options alone. Throws kit::Interrupted.
Measured measure_training(const Task& task, const RunOptions& run, std::int64_t steps);

/// The finished run of these options.
RunRecord record_of(const RunOptions& run, const StudyResults& results);

/// SHA-256 over all parameters, in order.
std::string parameters_sha256(const nn::Module& model);

}  // namespace gradus::lab::compare
