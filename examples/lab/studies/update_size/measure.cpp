#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/studies/update_size/stable.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/training/trial.h"

namespace gradus::lab::update_size {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kNear = 1.05;  // times the limit: accepted
constexpr int kTries = 6;

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

TrialOptions trained(const std::string& placement, std::int64_t layers, std::int64_t steps,
                     std::uint64_t seed) {
  TrialOptions options{.placement = nn::placement_named(placement), .layers = layers};
  options.lr = kTrainedRate;
  options.steps = steps;
  options.seed = seed;
  return options;
}

/// Scales the update just made until the logits move by kNear times `limit` at most, or after kTries.
double hold_update(const nn::GPT& model, const Tensor& ids, const Tensor& before, double limit,
                   const std::vector<Tensor>& parameters, const std::vector<Tensor>& old) {
  double moved = rms(logits_of(model, ids) - before);
  for (int tries = 0; tries < kTries && moved > kNear * limit; ++tries) {
    keep_share(parameters, old, limit / moved);
    moved = rms(logits_of(model, ids) - before);
  }
  return moved;
}

struct Trained {
  double loss = 0;
  double gradient = 0;                  // the norm of the first one
  std::vector<double> losses, updates;  // of each step
};

/// As train() of trial.h, Adam without warm-up; at each step the logits move no further than limits[step]
/// (none: no limit). The same rule of divergence; the same batches.
Trained train_within(const TrialOptions& options, const std::vector<double>& limits = {}) {
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
    const Batch batch = task.batch(options.batch, data);
    const Tensor logits = model(batch.inputs);
    const Tensor loss = cross_entropy(logits.reshape({-1, logits.size(-1)}), batch.targets.flatten());
    result.losses.push_back(loss.item());
    if (!(loss.item() <= wild)) {
      result.loss = start;
      return result;
    }
    optimizer.zero_grad();
    loss.backward();
    if (step == 0) result.gradient = optim::grad_norm(parameters);
    const bool held = result.updates.size() < limits.size();
    const std::vector<Tensor> old = held ? copies(parameters) : std::vector<Tensor>{};
    const double limit = held ? limits[result.updates.size()] : kNoLimit;
    optimizer.step();
    result.updates.push_back(hold_update(model, batch.inputs, logits.detach(), limit, parameters, old));
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
  const Batch seen = task.batch(options.batch, data);
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
    const Batch batch = k == 1 ? seen : task.batch(options.batch, data);
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
  const TrialOptions post = trained("Post-LN", layers, steps, seed);
  TrialOptions slow = post;
  slow.lr = kSlowRate;
  const Trained pre = train_within(trained("Pre-LN", layers, steps, seed)), as_is = train_within(post),
                slower = train_within(slow), held = train_within(post, pre.updates);
  Measured measured;
  const std::pair<const char*, const Trained*> all[] = {
      {"pre", &pre}, {"post", &as_is}, {"slower", &slower}, {"held", &held}};
  for (const auto& [name, one] : all) {
    measured.numbers[fmt::format("loss.{}", name)] = one->loss;
    measured.numbers[fmt::format("learned.{}", name)] = one->loss < recall_task().ngram().loss;
    measured.series[fmt::format("losses.{}", name)] = thinned(one->losses, 40);
    measured.series[fmt::format("updates.{}", name)] = thinned(one->updates, 40);
  }
  double most = 0;
  for (std::size_t i = 0; i < std::min(pre.updates.size(), held.updates.size()); ++i)
    most = std::max(most, held.updates[i] / pre.updates[i]);
  measured.numbers["held.most"] = most;
  measured.numbers["larger.first"] = std::log10(as_is.updates.front() / pre.updates.front());
  return measured;
}

Measured measure_rate(const std::string& placement, double lr, std::uint64_t seed, std::int64_t layers,
                      std::int64_t steps) {
  TrialOptions options = trained(placement, layers, steps, seed);
  options.lr = lr;
  const Trained one = train_within(options);
  const auto first = static_cast<std::ptrdiff_t>(std::min(one.updates.size(), kFirstUpdates));
  const auto largest = std::max_element(one.updates.begin(), one.updates.begin() + first);
  return {.numbers = {{"loss", one.loss},
                      {"gradient", one.gradient},
                      {"update", first > 0 ? *largest : std::nan("")}},
          .series = {{"losses", thinned(one.losses, 40)}, {"updates", thinned(one.updates, 40)}}};
}

}  // namespace gradus::lab::update_size
