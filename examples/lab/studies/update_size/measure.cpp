#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/analysis/statistics.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/study/trial.h"

namespace gradus::lab::update_size {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double rms(const Tensor& x) { return std::sqrt(x.square().mean().item()); }

Tensor logits_of(const nn::GPT& model, const Tensor& ids) {
  const NoGrad guard;
  return model(ids);
}

std::vector<Tensor> copies(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> values;
  for (const Tensor& parameter : parameters) values.push_back(parameter.detach().clone());
  return values;
}

/// w = before + share (w - before)
void keep_share(const std::vector<Tensor>& parameters, const std::vector<Tensor>& before, double share) {
  const NoGrad guard;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].copy_(before[i] + (parameters[i] - before[i]) * share);
}

TrialOptions trained(const char* placement, std::int64_t layers, std::int64_t steps, std::uint64_t seed) {
  TrialOptions options{.placement = nn::placement_named(placement), .layers = layers};
  options.lr = kTrainedRate;
  options.steps = steps;
  options.seed = seed;
  return options;
}

/// What was done at each step.
struct Steps {
  std::vector<double> gradients, updates;
};

/// What may be done at any step.
struct Limits {
  double gradient = kNoLimit, update = kNoLimit;
};

/// Scales the update just made until the logits move by `limit` at most, or a little more.
double hold_update(const nn::GPT& model, const Tensor& ids, const Tensor& before, double limit,
                   const std::vector<Tensor>& parameters, const std::vector<Tensor>& old) {
  double moved = rms(logits_of(model, ids) - before);
  for (int tries = 0; tries < 3 && moved > 1.05 * limit; ++tries) {
    keep_share(parameters, old, limit / moved);
    moved = rms(logits_of(model, ids) - before);
  }
  return moved;
}

struct Trained {
  double loss = 0;
  Steps steps;
  std::vector<double> losses;
};

/// As train() of trial.h, Adam without warm-up, within limits. The same rule of divergence; the same batches.
Trained train_within(const TrialOptions& options, const Limits& limits) {
  const Task& task = recall_task();
  nn::GPT model = new_model(task, options);
  const std::vector<Tensor> parameters = model.parameters();
  optim::Adam optimizer(parameters, {.lr = options.lr});
  Generator data(options.seed, 1);  // train()'s stream of batches
  const double start = validation_loss(model, task);
  const double wild = 4 * std::log(static_cast<double>(task.vocabulary().size()));
  Trained result;
  for (std::int64_t step = 0; step < options.steps; ++step) {
    kit::stop_if_interrupted();
    const kit::Windows batch = task.batch(options.batch, data);
    const Tensor logits = model(batch.inputs);
    const Tensor loss = cross_entropy(logits.reshape({-1, logits.size(-1)}), batch.targets.flatten());
    result.losses.push_back(loss.item());
    if (!(loss.item() <= wild)) {
      result.loss = start;
      return result;
    }
    optimizer.zero_grad();
    loss.backward();
    result.steps.gradients.push_back(optim::grad_norm(parameters));
    if (std::isfinite(limits.gradient)) optim::clip_grad_norm(parameters, limits.gradient);
    const bool held = std::isfinite(limits.update);
    const std::vector<Tensor> old = held ? copies(parameters) : std::vector<Tensor>{};
    optimizer.step();
    result.steps.updates.push_back(
        hold_update(model, batch.inputs, logits.detach(), limits.update, parameters, old));
  }
  const double end = validation_loss(model, task);
  result.loss = std::isfinite(end) ? std::min(end, start) : start;
  return result;
}

}  // namespace

Measured measure_sizes(const std::string& placement, std::int64_t layers, std::uint64_t seed) {
  const Task& task = recall_task();
  TrialOptions options{.placement = nn::placement_named(placement), .layers = layers};
  options.block = {.d_model = 64, .heads = 4};
  options.batch = 4;
  options.seed = seed;
  nn::GPT model = new_model(task, options);
  Generator data(seed, 1);
  const kit::Windows seen = task.batch(options.batch, data);
  const std::vector<Tensor> parameters = model.parameters();
  const std::vector<Tensor> start = copies(parameters);
  const Tensor before = logits_of(model, seen.inputs);
  const auto moved = [&] { return rms(logits_of(model, seen.inputs) - before); };

  Measured measured;
  measured.numbers["logits"] = rms(before);
  optim::Adam optimizer(parameters, {.lr = kRate});
  std::vector<double> updates;
  for (std::int64_t k = 1; k <= kUpdates; ++k) {
    kit::stop_if_interrupted();
    const kit::Windows batch = k == 1 ? seen : task.batch(options.batch, data);
    optimizer.zero_grad();
    model.loss(batch.inputs, batch.targets).backward();
    if (k == 1) {
      measured.numbers["gradient"] = optim::grad_norm(parameters);
      optim::SGD(parameters, {.lr = kSgdRate}).step();
      measured.numbers["sgd"] = moved();
      keep_share(parameters, start, 0);
    }
    optimizer.step();
    updates.push_back(moved());
  }
  measured.numbers["update.1"] = updates.front();
  measured.numbers["update.16"] = updates.back();
  measured.series["updates"] = updates;
  return measured;
}

Measured measure_training(std::uint64_t seed, std::int64_t layers, std::int64_t steps) {
  const Trained pre = train_within(trained("Pre-LN", layers, steps, seed), {});
  const TrialOptions post = trained("Post-LN", layers, steps, seed);
  const Trained as_is = train_within(post, {});
  const Trained gradients = train_within(post, {.gradient = median(pre.steps.gradients)});
  const Trained updates = train_within(post, {.update = median(pre.steps.updates)});
  Measured measured;
  measured.numbers["limit.gradient"] = median(pre.steps.gradients);
  measured.numbers["limit.update"] = median(pre.steps.updates);
  const std::pair<const char*, const Trained*> all[] = {
      {"pre", &pre}, {"post", &as_is}, {"gradient", &gradients}, {"update", &updates}};
  for (const auto& [name, trained_one] : all) {
    measured.numbers[fmt::format("loss.{}", name)] = trained_one->loss;
    measured.numbers[fmt::format("learned.{}", name)] = trained_one->loss < recall_task().ngram().loss;
    measured.series[fmt::format("losses.{}", name)] = thinned(trained_one->losses, 40);
    measured.series[fmt::format("updates.{}", name)] = thinned(trained_one->steps.updates, 40);
  }
  return measured;
}

}  // namespace gradus::lab::update_size
