#include "lab/studies/fine_tuning/matched.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/program/interrupt.h"
#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/search.h"

namespace gradus::lab::fine_tuning {

namespace {

// The seeds of the study's other runs are first, first + 1, ...
constexpr std::uint64_t kJudging = 280;

double between(const Task& task, double share) {
  return task.ngram().loss - share * (task.ngram().loss - *task.entropy());
}

/// Trains on the first language until the mean of the last losses has come down to the target; the number of
/// steps, NaN if it has not.
double pre_train_to_target(nn::GPT& model, const TrialOptions& options) {
  Trial trial(recall_task(), model, options);
  while (!trial.done()) {
    kit::stop_if_interrupted();
    trial.step();
    if (const double steps = steps_to(trial.losses(), first_target()); !std::isnan(steps)) return steps;
  }
  return kit::nothing;
}

struct Losses {
  std::vector<double> first, second;  // of both languages, on the validation sets
};

/// Trains on the second language until its loss has come down to the target.
Losses fine_tune_to_target(nn::GPT& model, const TrialOptions& options, std::int64_t every) {
  Losses losses;
  Trial trial(second_task(), model, options);
  for (std::int64_t step = 0; true; ++step) {
    kit::stop_if_interrupted();
    if (step % every == 0) {
      losses.first.push_back(validation_loss(model, recall_task()));
      losses.second.push_back(validation_loss(model, second_task()));
      if (losses.second.back() <= second_target()) return losses;
    }
    if (trial.done()) return losses;
    trial.step();
  }
}

/// The rises of the first loss, Post-LN minus Pre-LN, of the seeds on which both reach the targets.
void add_difference(Figures& figures, const StudyResults& results, const MatchedGrid& grid,
                    std::int64_t layers, double rate) {
  const auto of = [&](const char* placement, const std::string& number) {
    return Runs(results, grid.seeds,
                [&](std::uint64_t seed) { return matched_name(placement, layers, seed); })
        .by_seed(number);
  };
  const std::string id = fmt::format("matched.L{}.lr{:g}", layers, rate), rise = of_rate("rise", rate);
  const std::vector<double> differences = paired_difference(of("Post-LN", rise), of("Pre-LN", rise)),
                            pre = finite(of("Pre-LN", "first-loss")),
                            post = finite(of("Post-LN", "first-loss"));
  for (const double difference : differences) keep(figures, id, difference);
  figures.object(id, baselines_differ(mean(post), mean(pre)));
  figures.object(
      id, failed_runs(differences.size(),
                      paired_difference(of("Post-LN", "first-loss"), of("Pre-LN", "first-loss")).size()));
}

}  // namespace

MatchedGrid matched_grid_of(const StudyOptions& options) {
  MatchedGrid grid{
      .depths = {6, 12},
      .seeds = seeds_from(options.seed + kJudging, per_budget<std::int64_t>(options.budget, 1, 3, 10))};
  if (options.budget != Budget::quick) return grid;
  grid.depths = {2};
  grid.first_steps = 60, grid.warmup = 10;
  grid.rates = {1e-3};
  grid.steps = 20;
  return grid;
}

double first_target() { return between(recall_task(), 0.9); }
double second_target() { return between(second_task(), 0.5); }

std::string matched_name(const std::string& placement, std::int64_t layers, std::uint64_t seed) {
  return "matched-" + run_name(placement, layers, seed);
}

std::string of_rate(const std::string& name, double rate) { return fmt::format("{}-lr{:g}", name, rate); }

double value_at(const std::vector<double>& falling, const std::vector<double>& y, double level) {
  for (std::size_t i = 0; i < falling.size(); ++i) {
    if (!(falling[i] <= level)) continue;
    if (i == 0 || !std::isfinite(falling[i - 1])) return y.at(i);
    const double share = (falling[i - 1] - level) / (falling[i - 1] - falling[i]);
    return y.at(i - 1) + share * (y.at(i) - y.at(i - 1));
  }
  return kit::nothing;
}

Measured measure_matched(const std::string& placement, std::int64_t layers, std::uint64_t seed,
                         const MatchedGrid& grid) {
  const TrialOptions base{.placement = nn::placement_named(placement), .layers = layers, .seed = seed};
  TrialOptions first = base;
  first.lr = grid.first_rate;
  first.warmup = grid.warmup;
  first.steps = grid.first_steps;
  nn::GPT model = new_model(recall_task(), first);
  Measured measured;
  const double steps = pre_train_to_target(model, first);
  const double loss = validation_loss(model, recall_task());
  measured.numbers = {{"first-steps", steps}, {"first-loss", loss}};
  for (const double rate : grid.rates) {
    nn::GPT copy(model.options());
    copy.copy_parameters_from(model);
    TrialOptions second = base;
    second.lr = rate;
    second.steps = grid.steps;
    const Losses losses = fine_tune_to_target(copy, second, grid.every);
    const double end = value_at(losses.second, losses.first, second_target());
    measured.numbers[of_rate("rise", rate)] = std::isnan(steps) ? kit::nothing : end - loss;
    measured.series[of_rate("first", rate)] = thinned(losses.first, 40);
    measured.series[of_rate("second", rate)] = thinned(losses.second, 40);
  }
  return measured;
}

std::vector<StudyRun> matched_plan(const StudyOptions& options) {
  const MatchedGrid grid = matched_grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::int64_t layers : grid.depths)
      for (const std::string& placement : kPlacements)
        runs.push_back({.name = matched_name(placement, layers, seed),
                        .seconds = (options.budget == Budget::quick ? 0.2 : 4) * static_cast<double>(layers),
                        .round = 1,
                        .measure = [=] { return measure_matched(placement, layers, seed, grid); }});
  return runs;
}

void add_matched_figures(Figures& figures, const StudyResults& results) {
  const MatchedGrid grid = matched_grid_of(results.options);
  for (const std::int64_t layers : grid.depths)
    for (const double rate : grid.rates) add_difference(figures, results, grid, layers, rate);
}

}  // namespace gradus::lab::fine_tuning
