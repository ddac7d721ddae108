#include "lab/studies/compare/training.h"

#include <cmath>

#include "gradus/gradus.h"
#include "lab/study/sha256.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

TrialOptions trial_of(const RunOptions& run, std::int64_t steps) {
  return {.placement = run.placement,
          .layers = run.layers,
          .final_norm = run.final_norm,
          .lr = run.lr,
          .warmup = run.warmup,
          .steps = steps,
          .seed = run.seed};
}

void scale_residual_projections(const nn::GPT& model, std::int64_t layers) {
  const NoGrad guard;
  for (const auto& [name, w] : model.named_parameters())
    if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight"))
      w.copy_(w / std::sqrt(2.0 * static_cast<double>(layers)));
}

}  // namespace

nn::GPT make_model(const Task& task, const RunOptions& run) {
  const TrialOptions options = trial_of(run, 1);
  nn::GPT gpt = new_model(task, options);
  if (!run.residual_scaling) return gpt;
  scale_residual_projections(gpt, run.layers);
  const Batch first = first_batch(task, options);
  nn::prepare_(gpt, [&] { gpt.loss(first.inputs, first.targets); });  // again, for the scaled weights
  return gpt;
}

Measured measure_training(const Task& task, const RunOptions& run, std::int64_t steps) {
  nn::GPT model = make_model(task, run);
  const std::vector<Tensor> parameters = model.parameters();
  std::vector<double> norms;
  const TrialResult trained = train(task, model, trial_of(run, steps),
                                    [&](const TrialStep&) { norms.push_back(optim::grad_norm(parameters)); });
  return {.numbers = {{"final-loss", trained.diverged ? NAN : trained.end_loss},
                      {"diverged-at", trained.diverged ? static_cast<double>(trained.losses.size()) : NAN},
                      {"start-loss", trained.start_loss}},
          .series = {{"losses", trained.losses}, {"gradient-norms", norms}},
          .texts = {{"parameters-sha256", parameters_sha256(model)}}};
}

RunRecord record_of(const RunOptions& run, const StudyResults& results) {
  const std::string name = run.name();
  RunRecord record{.options = run,
                   .final_loss = {},
                   .diverged_at = {},
                   .start_loss = results.number(name, "start-loss"),
                   .parameters_sha256 = results.text(name, "parameters-sha256"),
                   .seconds = results.records.at(name).seconds,
                   .losses = results.series(name, "losses"),
                   .grad_norms = results.series(name, "gradient-norms")};
  if (const double loss = results.number(name, "final-loss"); !std::isnan(loss)) record.final_loss = loss;
  if (const double at = results.number(name, "diverged-at"); !std::isnan(at))
    record.diverged_at = static_cast<std::int64_t>(at);
  return record;
}

std::string parameters_sha256(const nn::Module& model) {
  Sha256 hash;
  for (const Tensor& parameter : model.parameters()) hash.update(std::as_bytes(parameter.span<float>()));
  return hash.hex();
}

}  // namespace gradus::lab::compare
