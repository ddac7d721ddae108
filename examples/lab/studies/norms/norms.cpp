// LayerNorm and its relatives: shift of inputs, gradients of deep stacks, rates and final losses.

#include "lab/studies/norms/norms.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "lab/statistics/format.h"
#include "lab/studies/studies.h"

namespace gradus::lab::norms {

namespace {

// Seconds of one core: a layer of a step, with these norms; a run of shift; one forward and backward pass.
constexpr double kLayerStep = 2.5e-4, kShift = 2.2, kStart = 0.055;

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Setting setting = setting_of(options);
  std::vector<StudyRun> runs;
  const auto add = [&](const std::string& name, double seconds, std::function<Measured()> measure) {
    runs.push_back({.name = name, .seconds = seconds, .measure = std::move(measure)});
  };
  for (const Stack& stack : setting.stacks)
    for (const Kind& kind : kinds())
      for (const double rate : setting.rates)
        for (const std::uint64_t seed : setting.seeds) {
          if (stack.name == "post6" && kind.name == "none") continue;  // x + f(x), as pre6
          add(setting.search(stack, kind.name).run(rate, seed),
              kLayerStep * static_cast<double>((stack.layers + 1) * setting.steps),
              [=, steps = setting.steps] { return measure_training(stack, kind, rate, steps, seed); });
        }
  for (const Kind& kind : setting.looked_into)
    for (const std::uint64_t seed : setting.seeds)
      add(shift_name(kind.name, seed), kShift * static_cast<double>(setting.steps) / 400,
          [=, steps = setting.steps] { return measure_shift(kind, steps, seed); });
  for (const Start& start : starts())
    for (const Kind& kind : setting.looked_into)
      for (const std::uint64_t seed : setting.start_seeds)
        add(start_name(start.name, kind.name, seed), kStart,
            [=] { return measure_start(start, kind, seed); });
  return runs;
}

std::vector<double> decades(std::vector<double> rates) {
  for (double& rate : rates) rate = std::log10(rate);
  return rates;
}

Figures figures(const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  Figures all;
  const auto best = [&](const Stack& stack, const char* norm) {
    return best_of(results, setting.search(stack, norm)).values;
  };
  const auto highest = [&](const Stack& stack, const char* norm) {
    return decades(largest_rate(results, setting.search(stack, norm), tiny_baseline(),
                                setting.rates.front() / std::sqrt(10.0)));
  };
  for (const Stack& stack : setting.stacks) {
    // On a grid of rates all seeds may agree, so seeds with a higher rate are counted, not averaged.
    all["rate." + stack.name] = paired_difference(highest(stack, "layer"), highest(stack, "none"));
    all["rms." + stack.name] = paired_difference(best(stack, "rms"), best(stack, "layer"));
    all["detached." + stack.name] = paired_difference(best(stack, "detached"), best(stack, "layer"));
  }
  for (const std::string what : {"inputs", "gradients"})
    all["shift." + what] = paired_difference(shift_runs(results, "layer").by_seed(what),
                                             shift_runs(results, "none").by_seed(what));
  for (const Start& start : starts()) {
    const auto spread = [&](const char* norm) {
      return start_runs(results, start.name, norm).by_seed("spread");
    };
    all["spread." + start.name] = finite(spread("layer"));
    all["reduces." + start.name] = paired_difference(spread("none"), spread("layer"));
  }
  return all;
}

std::string setting() {
  const Setting full = setting_of({.budget = Budget::full});
  return fmt::format(
      "GPTs of 16 channels on the small recall language, {} steps of 8 documents, Adam, a tenth of the steps "
      "warm-up and half a cosine down to 0; rates {}, each norm at the one that is best on the other seeds "
      "where a row says best; {} seeds, which share weights and data over norms; final losses on the "
      "validation set. Shift: training at rate {}, 6 layers. Gradients before training: {} layers, the loss "
      "a mean over positions, {} seeds, in f64.",
      full.steps, listed(full.rates), full.seeds.size(), kShiftRate, kStartLayers, full.start_seeds.size());
}

}  // namespace

DetachedLayerNorm::DetachedLayerNorm(const nn::NormOptions& options)
    : Module("DetachedLayerNorm"),
      weight(parameter("weight", ones({options.d_model}))),
      bias(parameter("bias", zeros({options.d_model}))),
      eps_(options.eps) {}

Tensor DetachedLayerNorm::operator()(const Tensor& x) const {
  const Tensor centred = x - x.mean(-1, true).detach();
  const Tensor deviation = sqrt((centred * centred).mean(-1, true).detach() + eps_);
  return report(centred / deviation * weight + bias);
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"layer", "LayerNorm", nn::make_norm<nn::LayerNorm>, 0},
                                        {"rms", "RMSNorm", nn::make_norm<nn::RMSNorm>, 1},
                                        {"dyt", "DyT", nn::make_norm<nn::DyT>, 2},
                                        {"batch", "BatchNorm", nn::make_norm<nn::BatchNorm>, 3},
                                        {"detached", "LN detached", nn::make_norm<DetachedLayerNorm>, 4},
                                        {"none", "no norm", nn::make_norm<nn::Identity>, 5}};
  return all;
}

const Kind& kind_named(const std::string& name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return kind;
  fail_with("norms: there is no norm {}", name);
}

Setting setting_of(const StudyOptions& options) {
  const Stack pre6{"pre6", "Pre-LN, 6 layers", nn::pre_ln(), 6};
  if (options.budget == Budget::quick)
    return {.stacks = {pre6},
            .rates = {1e-2, 3e-2, 1e-1},
            .seeds = seeds_from(options.seed, 3),
            .start_seeds = seeds_from(options.seed, 8),
            .looked_into = {kind_named("layer"), kind_named("detached"), kind_named("none")},
            .steps = 300};
  return {.stacks = {pre6,
                     {"pre24", "Pre-LN, 24 layers", nn::pre_ln(), 24},
                     {"post6", "Post-LN, 6 layers", nn::post_ln(), 6}},
          .rates = {3e-3, 1e-2, 3e-2, 1e-1, 3e-1},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 11 : 5),
          .start_seeds = seeds_from(options.seed, 10),
          .looked_into = kinds(),
          .steps = 600};
}

Search Setting::search(const Stack& stack, const std::string& norm) const {
  const std::string name = (stack.name == "post6" && norm == "none" ? "pre6" : stack.name) + "-" + norm;
  return {.rates = rates, .seeds = seeds, .run = [name](double rate, std::uint64_t seed) {
            return fmt::format("{}-lr{}-s{}", name, rate, seed);
          }};
}

std::string shift_name(const std::string& norm, std::uint64_t seed) {
  return fmt::format("shift-{}-s{}", norm, seed);
}

std::string start_name(const std::string& start, const std::string& norm, std::uint64_t seed) {
  return fmt::format("start-{}-{}-s{}", start, norm, seed);
}

Runs shift_runs(const StudyResults& results, const std::string& norm) {
  return {results, setting_of(results.options).seeds,
          [&](std::uint64_t seed) { return shift_name(norm, seed); }};
}

Runs start_runs(const StudyResults& results, const std::string& start, const std::string& norm) {
  return {results, setting_of(results.options).start_seeds,
          [&](std::uint64_t seed) { return start_name(start, norm, seed); }};
}

Measured measure_training(const Stack& stack, const Kind& kind, double rate, std::int64_t steps,
                          std::uint64_t seed) {
  TrialOptions options = tiny_trial(steps);
  options.placement = stack.placement;
  options.layers = stack.layers;
  options.block.norm = kind.make;
  options.lr = rate;
  options.seed = seed;
  return train_tiny(options);
}

}  // namespace gradus::lab::norms

namespace gradus::lab {

Study norms_study() {
  return {.name = "norms",
          .title = "Layer norm and its relatives",
          .question = "What does a norm do for training, and does it have to be LayerNorm?",
          .setting = norms::setting(),
          .scope = "small recall language, width 16, 600 steps, N(0, 1/fan_in)",
          .plan = norms::plan,
          .figures = norms::figures,
          .report = norms::report};
}

}  // namespace gradus::lab
