#pragma once
// One training run: a model, a placement, a rate, a warm-up, a seed.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gradus/nn/models/gpt.h"
#include "lab/placement.h"
#include "lab/training/task.h"

namespace gradus::lab {

/// What all runs of a lab share.
struct ModelOptions {
  std::int64_t d_model = 32;
  std::int64_t heads = 4;
  std::int64_t batch = 16;
  std::int64_t steps = 400;
};

/// What sets one run apart.
struct RunOptions {
  Placement placement = Placement::pre;
  std::int64_t layers = 2;
  double lr = 1e-3;
  std::int64_t warmup = 0;
  std::uint64_t seed = 0;
  std::optional<bool> final_norm = {};  // not given: as the placement has it
  bool residual_scaling = false;

  /// "post-L6-lr0.003-w100-s1", with "-norm", "-nonorm", "-scaled" for the ablations: names the run in files.
  std::string name() const;
};

/// One step, as it goes to metrics.jsonl.
struct StepMetrics {
  std::int64_t step = 0;  // from 1
  double loss = 0;        // of the batch, in nats per character; NaN or infinite when training has diverged
  double grad_norm = 0;   // of all gradients together
  double lr = 0;
};

struct RunResult {
  std::optional<double> final_loss;         // on the validation set; nothing when diverged
  std::optional<std::int64_t> diverged_at;  // the step whose loss was not finite, or far above the start's
  double start_loss = 0;                    // on the validation set, before training
  std::string parameters_sha256;
  double seconds = 0;
};

/// The model with its initial weights: the same for both placements, seed by seed, but for what a placement
/// sets itself (DeepNorm its matrices, Admin its shortcuts on the first batch).
nn::GPT make_model(const Task& task, const ModelOptions& model, const RunOptions& run);

/// Trains with Adam. `on_step` sees each step and returns false to stop early: then there is no result.
/// Everything depends on the options alone, so runs may go on side by side on threads of their own.
std::optional<RunResult> train(const Task& task, const ModelOptions& model, const RunOptions& run,
                               const std::function<bool(const StepMetrics&)>& on_step);

/// SHA-256 over all parameters, in order.
std::string parameters_sha256(const nn::Module& model);

}  // namespace gradus::lab
