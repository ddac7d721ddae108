#include "lab/training/training.h"

#include <chrono>
#include <cmath>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/sha256.h"
#include "lab/study/trial.h"

namespace gradus::lab {

namespace {

TrialOptions trial_of(const ModelOptions& model, const RunOptions& run) {
  return {.placement = in_library(run.placement),
          .layers = run.layers,
          .block = {.d_model = model.d_model, .heads = model.heads},
          .final_norm = run.final_norm,
          .lr = run.lr,
          .warmup = run.warmup,
          .steps = model.steps,
          .batch = model.batch,
          .seed = run.seed};
}

void scale_residual_projections(const nn::GPT& model, std::int64_t layers) {
  const NoGrad guard;
  for (const auto& [name, w] : model.named_parameters())
    if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight"))
      w.copy_(w / std::sqrt(2.0 * static_cast<double>(layers)));
}

}  // namespace

nn::GPT make_model(const Task& task, const ModelOptions& model, const RunOptions& run) {
  nn::GPT gpt = new_model(task, trial_of(model, run));
  if (!run.residual_scaling) return gpt;
  scale_residual_projections(gpt, run.layers);
  const kit::Windows first = first_batch(task, trial_of(model, run));
  nn::profile_admin_([&] { gpt.loss(first.inputs, first.targets); });  // anew, of what it starts with now
  return gpt;
}

std::optional<RunResult> train(const Task& task, const ModelOptions& options, const RunOptions& run,
                               const std::function<bool(const StepMetrics&)>& on_step) {
  const auto start = std::chrono::steady_clock::now();
  const TrialOptions trial = trial_of(options, run);
  const optim::Schedule lr = optim::warmup_linear(run.lr, run.warmup);
  nn::GPT model = make_model(task, options, run);
  const std::vector<Tensor> parameters = model.parameters();
  TrialResult trained;
  try {
    trained = train(task, model, trial, [&](const TrialStep& at) {
      const bool go_on = on_step(
          {.step = at.step, .loss = at.loss, .grad_norm = optim::grad_norm(parameters), .lr = lr(at.step)});
      if (!go_on) throw kit::Interrupted();
    });
  } catch (const kit::Interrupted&) {
    return std::nullopt;
  }
  RunResult result;
  result.start_loss = trained.start_loss;
  if (trained.diverged)
    result.diverged_at = std::ssize(trained.losses);
  else
    result.final_loss = trained.end_loss;
  result.parameters_sha256 = parameters_sha256(model);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::string parameters_sha256(const nn::Module& model) {
  Sha256 hash;
  for (const Tensor& parameter : model.parameters()) hash.update(std::as_bytes(parameter.span<float>()));
  return hash.hex();
}

}  // namespace gradus::lab
