// The plan of the comparisons whose arms are searched, and their runs.

#include "lab/studies/placements/searched.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "gradus/kit/program/interrupt.h"
#include "gradus/nn/placements/placements.h"
#include "lab/statistics/format.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/best/best.h"
#include "lab/study/outcome.h"
#include "lab/training/weights.h"

namespace gradus::lab::placements {

namespace {

// Seeds of neither the rest of this study nor of `best`.
constexpr std::uint64_t kSearching = 110, kJudging = 210;
constexpr std::int64_t kEvery = 50;  // steps between two looks at the validation set

double target_of(const Task& task) { return (task.ngram().loss + task.entropy().value()) / 2; }

/// The weights that each placement's paper prescribes where it prescribes them; the others are searched.
std::vector<std::string> schemes_of(const nn::Placement& placement) {
  if (placement == nn::deep_norm()) return {kOwnWeights};
  if (placement == nn::ln_scaling()) return {"fan_in", "xavier"};  // no smaller projections into the stream
  return {"fan_in", "fan_in_scaled", "tfixup"};
}

std::vector<Arm> arms_of(const std::vector<nn::Placement>& placements) {
  std::vector<Arm> arms;
  for (const nn::Placement& placement : placements) arms.push_back(Arm{placement, schemes_of(placement)});
  return arms;
}

Comparison comparison_of(const StudyOptions& options) {
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  Comparison one;
  one.ladder = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1};
  one.first = options.budget == Budget::quick ? 4 : 2, one.last = 5;
  one.searching = seeds(kSearching, per_budget<std::int64_t>(options.budget, 2, 2, 3));
  one.judging = seeds(kJudging, per_budget<std::int64_t>(options.budget, 3, 5, 10));
  one.kept = per_budget<std::vector<std::size_t>>(options.budget, {1}, {2}, {3, 2});
  check_apart(one.searching, one.judging);
  return one;
}

TrialOptions trial_of(const Comparison& comparison, const Arm& arm, const Design& design,
                      std::uint64_t seed) {
  TrialOptions trial = tiny_trial(comparison.steps);
  if (!comparison.looks_back) {
    trial.block = {.d_model = 32, .heads = 4};
    trial.batch = 4;
  }
  trial.placement = arm.placement;
  trial.layers = comparison.layers;
  trial.lr = design.lr;
  trial.seed = seed;
  return trial;
}

/// Whether the loss on the validation set, which is looked at rarely, has reached the target.
bool has_reached(const Trial& trial, const nn::GPT& model, const Task& task, double target) {
  const std::vector<double>& losses = trial.losses();
  if (std::ssize(losses) % kEvery != 0) return false;
  const double recent = mean(std::span(losses).last(static_cast<std::size_t>(kEvery)));
  return recent < task.ngram().loss && validation_loss(model, task) <= target;
}

double seconds_of(const Comparison& comparison) {
  const double layer_step = comparison.looks_back ? 2.6e-4 : 2.5e-4;
  return layer_step * static_cast<double>(comparison.layers * comparison.steps);
}

StudyRun run_of(const Comparison& comparison, const Arm& arm, const Design& design, std::uint64_t seed,
                bool judges) {
  return {.name = comparison.run_name(arm, design, seed),
          .seconds = seconds_of(comparison),
          .round = judges ? 1U : 0U,
          .measure =
              [trial = trial_of(comparison, arm, design, seed), scheme = design.scheme,
               stops = comparison.looks_back] {
                const Task& task = stops ? tiny_task() : best::task();
                return train_arm(trial, scheme, task, target_of(task), stops);
              },
          .group = fmt::format("{}-{}-L{}", comparison.name, name_of(arm.placement), comparison.layers)};
}

std::vector<StudyRun> asked(const Comparison& comparison, const ArmResults& arm) {
  std::vector<StudyRun> runs;
  for (const Searched::Run& run : arm.searched().runs)
    runs.push_back(run_of(comparison, arm.arm(), arm.design(run.setting), run.seed, false));
  if (const std::optional<Design> design = arm.chosen())
    for (const std::uint64_t seed : comparison.judging)
      runs.push_back(run_of(comparison, arm.arm(), *design, seed, true));
  return runs;
}

/// The number of runs of an arm if no grid grows.
std::size_t expected_runs(const Comparison& comparison, const Arm& arm) {
  const std::size_t settings = arm.schemes.size() * (comparison.last - comparison.first + 1);
  return runs_without_growth(settings, comparison.searching.size(), comparison.kept) +
         comparison.judging.size();
}

}  // namespace

Measured train_arm(const TrialOptions& options, const std::string& scheme, const Task& task, double target,
                   bool stops) {
  Init init;
  if (scheme != kOwnWeights)
    init = [&](const nn::GPT& gpt, std::uint64_t weights) {
      Generator generator(weights, 0);
      set_weights(gpt, scheme, options.layers, generator);
    };
  nn::GPT model = new_model(task, options, init);
  Trial trial(task, model, options);
  double reached = std::numeric_limits<double>::quiet_NaN();
  while (!trial.done() && std::isnan(reached)) {
    kit::stop_if_interrupted();
    trial.step();
    if (stops && has_reached(trial, model, task, target))
      reached = static_cast<double>(trial.losses().size());
  }
  const TrialResult result = trial.result();
  Measured measured = measured_of(result);
  measured.numbers["steps"] = stops ? reached : steps_to(result.losses, target);
  measured.series["losses"] = slice_means(result.losses, 20);
  return measured;
}

const Task& Comparison::task() const { return looks_back ? tiny_task() : best::task(); }

double Comparison::learned_loss() const { return task().ngram().loss; }
double Comparison::target_loss() const { return target_of(task()); }

std::string Comparison::title(const Arm& arm) const {
  return fmt::format("{}, {}", arm.placement.name, counted(layers, "layer"));
}

std::string Comparison::run_name(const Arm& arm, const Design& design, std::uint64_t seed) const {
  return fmt::format("{}-{}-L{}-{}-lr{}-s{}", name, name_of(arm.placement), layers, design.scheme, design.lr,
                     seed);
}

Comparison at_best(const StudyOptions& options) {
  Comparison one = comparison_of(options);
  one.name = "best";
  one.layers = per_budget<std::int64_t>(options.budget, 4, 12, 24);
  one.steps = per_budget<std::int64_t>(options.budget, 60, 400, 2000);
  one.arms = arms_of({nn::pre_ln(), nn::post_ln(), nn::deep_norm(), nn::b2t(), nn::resi_dual(), nn::mix_ln(),
                      nn::peri_ln(), nn::hybrid_norm(), nn::siamese_norm(), nn::admin(), nn::keel(),
                      nn::rezero(), nn::ln_scaling()});
  if (options.budget == Budget::quick) {
    one.arms.resize(4);
    for (Arm& arm : one.arms) arm.schemes.resize(1);
  }
  return one;
}

Comparison looking_back(const StudyOptions& options) {
  Comparison one = comparison_of(options);
  one.name = "looking";
  one.looks_back = true;
  one.layers = per_budget<std::int64_t>(options.budget, 8, 24, 96);
  one.steps = per_budget<std::int64_t>(options.budget, 60, 400, 3000);
  one.first = std::max<std::size_t>(one.first, 3);
  if (options.budget == Budget::quick)
    one.arms = {Arm{nn::pre_ln(), {"fan_in"}}};
  else
    one.arms = arms_of({nn::pre_ln(), nn::post_ln(), nn::deep_norm()});
  one.arms.push_back(Arm{nn::rezero(), {"fan_in"}});
  return one;
}

std::vector<StudyRun> plan_searched(const StudyOptions& options) {
  const StudyResults nothing{options, {}, 0};
  std::vector<StudyRun> runs;
  for (const Comparison& comparison : {at_best(options), looking_back(options)})
    for (const ArmResults& arm : results_of(nothing, comparison))
      for (StudyRun& run : asked(comparison, arm)) runs.push_back(std::move(run));
  return runs;
}

Following next_searched(const StudyResults& results) {
  Following following;
  for (const Comparison& comparison : {at_best(results.options), looking_back(results.options)})
    for (const ArmResults& arm : results_of(results, comparison))
      following.add(asked(comparison, arm),
                    static_cast<double>(expected_runs(comparison, arm.arm())) * seconds_of(comparison));
  return following;
}

}  // namespace gradus::lab::placements
