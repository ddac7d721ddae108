#include "lab/training/training.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/names.h"
#include "lab/sha256.h"
#include "lab/start/initialisation.h"

namespace gradus::lab {

namespace {

// A loss this many times that of guessing evenly is called divergence and ends the run.
constexpr double kDiverged = 4;

// Streams of a run's seed: independent sequences of random numbers.
enum Stream : std::uint64_t { kWeights, kData };

/// Matrices N(0, 1/fan_in), which is Xiong et al.'s N(0, 1/d) where they are square; embeddings N(0, 1/d), so
/// that the tied head, which reads a normed stream, starts with logits of about 1. It is not the setting of
/// their Lemma 2: the stream begins as the sum of two embeddings, |x|^2 of about 2 and not d, the activation
/// is GELU, and queries and keys are drawn like the rest. Gains start at 1, other numbers of a placement,
/// such as ReZero's, as it has them.
void initialise(const nn::GPT& model, const RunOptions& run) {
  Generator generator(run.seed, kWeights);
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.ends_with("bias"))
      nn::init::zeros_(w);
    else if (w.dim() >= 2)
      nn::init::normal_(w, 0, 1 / std::sqrt(static_cast<double>(w.size(-1))), generator);
  }
  set_own_values(model.transformer, run.placement, run.seed);
  if (!run.residual_scaling) return;
  const NoGrad guard;
  for (const auto& [name, w] : model.named_parameters())
    if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight"))
      w.copy_(w / std::sqrt(2.0 * static_cast<double>(run.layers)));
}

double validation_loss(const nn::GPT& model, const Task& task) {
  const NoGrad guard;
  return model.loss(task.validation().inputs, task.validation().targets).item();
}

}  // namespace

std::string RunOptions::name() const {
  std::string text = fmt::format("{}-L{}-lr{}-w{}-s{}", name_of(placement), layers, lr, warmup, seed);
  if (final_norm) text += *final_norm ? "-norm" : "-nonorm";
  if (residual_scaling) text += "-scaled";
  return text;
}

nn::GPT make_model(const Task& task, const ModelOptions& model, const RunOptions& run) {
  const nn::GPT gpt({.vocab = task.vocabulary().size(),
                     .context = task.context(),
                     .layers = run.layers,
                     .placement = in_library(run.placement),
                     .block = {.d_model = model.d_model, .heads = model.heads},
                     .final_norm = run.final_norm,
                     .residual_init_scaling = false});
  initialise(gpt, run);
  Generator data(run.seed, kData);
  const kit::Windows first = task.batch(model.batch, data);  // what training will begin with
  nn::profile_admin_([&] { gpt.loss(first.inputs, first.targets); });
  return gpt;
}

std::optional<RunResult> train(const Task& task, const ModelOptions& options, const RunOptions& run,
                               const std::function<bool(const StepMetrics&)>& on_step) {
  const auto start = std::chrono::steady_clock::now();
  const nn::GPT model = make_model(task, options, run);
  const std::vector<Tensor> parameters = model.parameters();
  optim::Adam opt(parameters, {.lr = optim::warmup_linear(run.lr, run.warmup)});
  Generator data(run.seed, kData);
  RunResult result;
  result.start_loss = validation_loss(model, task);
  const double limit = kDiverged * std::log(static_cast<double>(task.vocabulary().size()));

  for (std::int64_t step = 1; step <= options.steps && !result.diverged_at; ++step) {
    const kit::Windows batch = task.batch(options.batch, data);
    const Tensor loss = model.loss(batch.inputs, batch.targets);
    const double value = loss.item();
    opt.zero_grad();
    loss.backward();
    const StepMetrics metrics{
        .step = step, .loss = value, .grad_norm = optim::grad_norm(parameters), .lr = opt.lr()};
    if (!on_step(metrics)) return std::nullopt;
    if (!std::isfinite(value) || value > limit)
      result.diverged_at = step;
    else
      opt.step();
  }
  if (!result.diverged_at) {
    result.final_loss = validation_loss(model, task);
    if (!std::isfinite(*result.final_loss) || *result.final_loss > limit) {
      result.final_loss.reset();
      result.diverged_at = options.steps;
    }
  }
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
