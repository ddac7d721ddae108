#pragma once
// One training of a study: a GPT, a task, an optimizer, a rate, a seed. Settings that studies vary are
// options here, so two studies with the same setting run the same training.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gradus/nn/models/gpt.h"
#include "gradus/optim/optimizer.h"
#include "lab/training/task.h"

namespace gradus::lab {

/// The lab's recall language, made once.
const Task& recall_task();

using MakeOptimizer =
    std::function<std::unique_ptr<optim::Optimizer>(const nn::GPT& model, const optim::Schedule& lr)>;
/// Adam with the lab's settings: betas 0.9 and 0.999, no weight decay.
MakeOptimizer adam(double beta2 = 0.999);

/// What the steps minimise instead of GPT::loss(); TrialResult::losses are its values, validation stays the
/// same.
using Objective = std::function<Tensor(const nn::GPT& model, const Batch& batch)>;
/// GPT::loss() plus `weight` times the mean of (log Z)^2, Z the sum of e^logit over the characters (Chowdhery
/// et al. 2022, arXiv:2204.02311, section 5).
Objective z_loss(double weight = 1e-4);

struct TrialOptions {
  nn::Placement placement = nn::pre_ln();
  std::int64_t layers = 6;
  nn::BlockOptions block = {.d_model = 32, .heads = 4};
  std::optional<bool> final_norm = {};  // not given: the placement's own
  nn::Positions positions = nn::Positions::learned;

  double lr = 3e-3;
  std::int64_t warmup = 0;                                  // steps, linear; constant after it
  std::function<optim::Schedule(double lr)> schedule = {};  // instead of warm-up and constant
  MakeOptimizer optimizer = adam();
  Objective objective = {};               // not given: GPT::loss()
  double clip = 0;                        // norm of the whole gradient; 0: none
  std::optional<double> loss_limit = {};  // above it a run has diverged; not given: 4 log(vocabulary)
  std::int64_t steps = 400;
  std::int64_t batch = 16;
  std::uint64_t seed = 0;
};

/// "pre", "post", "deepnorm": the names in runs and on the command line.
std::string name_of(const nn::Placement& placement);
/// Without "-LN": "Pre".
std::string short_title_of(const nn::Placement& placement);

/// Initial weights for a model: what it starts with instead of the lab's.
using Init = std::function<void(const nn::GPT& model, std::uint64_t seed)>;

/// Gives a model the initial weights of new_model(); `first` is the batch that training will begin with.
void start_weights(const nn::GPT& model, const TrialOptions& options, const Batch& first,
                   const Init& init = {});

/// The batch that training begins with.
Batch first_batch(const Task& task, const TrialOptions& options);

/// The model before its first step. Without `init`: matrices N(0, 1/fan_in), embeddings N(0, 1/d), biases 0,
/// then the values that the placement sets itself (trial.cpp says why). Equal options and seeds give
/// equal weights in all placements with the same parts.
nn::GPT new_model(const Task& task, const TrialOptions& options, const Init& init = {});

struct TrialStep {
  std::int64_t step = 0;  // from 1, before the update; the gradients are there
  double loss = 0;
  nn::GPT& model;
};

struct TrialResult {
  double start_loss = 0;  // on the validation set
  double final_loss = 0;  // on the validation set; start_loss where it diverged or ended above that, as in
                          // Wortsman et al. 2023, so one diverged run does not dominate the others
  double end_loss = 0;    // the unchanged final loss; NaN if training ended early
  bool diverged = false;  // a loss was not finite or above the limit
  std::vector<double> losses;  // of each step's batch
};

/// The first step at which the mean of the last kSmoothing losses was at most `target`; NaN: never.
double steps_to(const std::vector<double>& losses, double target);
inline constexpr std::size_t kSmoothing = 20;

/// A trial step by step, for callers that look, wait or stop in between.
///
///   Trial trial(task, model, options);
///   while (!trial.done()) trial.step();
///   std::printf("%g\n", trial.result().end_loss);
class Trial {
 public:
  /// Measures the loss before training; the caller owns task and model, which must outlive the trial.
  Trial(const Task& task, nn::GPT& model, TrialOptions options);

  /// All steps are made, or it has diverged.
  bool done() const { return diverged_ || std::ssize(losses_) == options_.steps; }
  /// Makes one more step; throws when all are done. `on_step` may look at the model and its gradients.
  void step(const std::function<void(const TrialStep&)>& on_step = {});
  double start_loss() const { return start_loss_; }
  const std::vector<double>& losses() const { return losses_; }
  bool diverged() const { return diverged_; }
  /// The result, also before all steps are made; measures the loss after training.
  TrialResult result() const;

 private:
  bool is_wild(double loss) const;

  const Task& task_;
  nn::GPT& model_;
  TrialOptions options_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  Generator data_;
  double start_loss_;
  std::vector<double> losses_ = {};
  bool diverged_ = false;
};

/// Trains. `on_step` may look at the model and its gradients. Throws kit::Interrupted at Ctrl-C. Everything
/// depends on the options alone: trials may go on side by side.
TrialResult train(const Task& task, nn::GPT& model, const TrialOptions& options,
                  const std::function<void(const TrialStep&)>& on_step = {});

/// Mean loss on the task's validation set, in eval mode, without a tape.
double validation_loss(const nn::GPT& model, const Task& task);

}  // namespace gradus::lab
