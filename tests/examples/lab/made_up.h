#pragma once
// Fabricated results of comparisons, from a formula, for testing the sentences about them.

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/studies/compare/start.h"

namespace gradus::test {

/// Final loss of a run; nothing for one that diverged.
using Outcome = std::function<std::optional<double>(const lab::compare::RunOptions&)>;

inline lab::compare::Settings small_grid(std::int64_t seeds = 3) {
  lab::compare::Settings settings;
  settings.lrs = {0.001, 0.003, 0.01};
  settings.seeds = seeds;
  settings.steps = 60;
  return settings;
}

/// Entropy 0.9, a 3-gram at 1.4; every run starts at 4, goes straight to its final loss and stays.
inline lab::compare::Results made_up(const lab::compare::Settings& settings, const Outcome& outcome) {
  lab::compare::Results results{.settings = settings,
                                .task = {.name = "recall language",
                                         .vocabulary = 29,
                                         .context = 32,
                                         .entropy = 0.9,
                                         .context_free_loss = 3.1,
                                         .ngram = {3, 1.4, {3.0, 2.0, 1.4, 1.41}}},
                                .initialisation = {},
                                .runs = {}};
  for (const lab::compare::RunOptions& run : plan_runs(settings)) {
    const std::optional<double> final = outcome(run);
    lab::compare::RunRecord record{.options = run,
                                   .final_loss = final,
                                   .diverged_at = {},
                                   .start_loss = 4,
                                   .parameters_sha256 = std::string(64, 'a'),
                                   .seconds = 1};
    const std::int64_t steps = final ? settings.steps : settings.steps / 2;
    if (!final) record.diverged_at = steps;
    for (std::int64_t step = 1; step <= steps; ++step) {
      const double share = static_cast<double>(step) / static_cast<double>(settings.steps);
      record.losses.push_back(4 - (4 - final.value_or(9)) * std::min(1.0, 1.5 * share));
      record.grad_norms.push_back(1 + share);
    }
    results.runs.push_back(std::move(record));
  }
  return results;
}

/// The start as in Theorem 1, with `post_slope` and `pre_slope` as powers of the depth.
inline lab::compare::Initialisation made_up_start(
    double post_slope = 0, double pre_slope = -0.5,
    const lab::compare::Placements& placements = lab::compare::Settings().placements) {
  std::vector<lab::compare::InitialState> states;
  for (const lab::compare::StartOptions& start : lab::compare::plan_starts(placements, 0)) {
    lab::compare::InitialState state{.placement = start.placement,
                                     .scheme = start.scheme,
                                     .layers = start.layers,
                                     .weight_share = {0.25, 0.5, 2},
                                     .activation_share = {0.2, 0.3, 8}};
    const bool pre = start.placement == nn::pre_ln();
    state.top_gradient = 4 * std::pow(static_cast<double>(start.layers), pre ? pre_slope : post_slope);
    for (std::int64_t l = 1; l <= start.layers; ++l) {
      state.norm_squared.push_back(pre ? 1 + static_cast<double>(l) : 1.5);
      state.gradient.push_back(state.top_gradient);
      state.activation_gradient.push_back(state.top_gradient / 4);
      state.median.push_back(0.75), state.low.push_back(0.5), state.high.push_back(1.5);
    }
    states.push_back(std::move(state));
  }
  return initialisation_of(states, {1e-10, 0.5, 0.4});
}

/// A little spread between seeds, the same for both placements.
inline double jitter(const lab::compare::RunOptions& run) {
  return 0.001 * static_cast<double>((run.seed * 7 + static_cast<std::uint64_t>(run.layers)) % 5);
}

}  // namespace gradus::test
