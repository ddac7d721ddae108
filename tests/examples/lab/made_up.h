#pragma once
// Labs that never ran: results made up from a formula, to see what is said about them.

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/studies/compare/analysis/analysis.h"

namespace gradus::test {

/// Final loss of a run; nothing for one that diverged.
using Outcome = std::function<std::optional<double>(const lab::RunOptions&)>;

inline lab::LabOptions small_grid(std::int64_t seeds = 3) {
  lab::LabOptions options;
  options.depths = {2, 6, 12};
  options.lrs = {0.001, 0.003, 0.01};
  options.warmups = {0, 100};
  options.seeds = seeds;
  options.threads = 2;
  options.model.steps = 60;
  return options;
}

/// Entropy 0.9, a 3-gram at 1.4; every run starts at 4, goes straight to its final loss and stays.
inline lab::Results made_up(const lab::LabOptions& options, const Outcome& outcome) {
  lab::Results results;
  results.config = {options,
                    {.name = "recall language",
                     .vocabulary = 29,
                     .context = 32,
                     .entropy = 0.9,
                     .context_free_loss = 3.1,
                     .ngram = {3, 1.4, {3.0, 2.0, 1.4, 1.41}},
                     .sha256 = {}},
                    {{"gradus", "0.1.0"}}};
  for (const lab::RunOptions& run : plan_runs(options)) {
    const std::optional<double> final = outcome(run);
    lab::RunRecord record{.options = run, .result = {}, .losses = {}, .grad_norms = {}};
    record.result = {.final_loss = final,
                     .diverged_at = {},
                     .start_loss = 4,
                     .parameters_sha256 = std::string(64, 'a'),
                     .seconds = 1};
    const std::int64_t steps = final ? options.model.steps : options.model.steps / 2;
    if (!final) record.result.diverged_at = steps;
    for (std::int64_t step = 1; step <= steps; ++step) {
      const double share = static_cast<double>(step) / static_cast<double>(options.model.steps);
      record.losses.push_back(4 - (4 - final.value_or(9)) * std::min(1.0, 1.5 * share));
      record.grad_norms.push_back(1 + share);
    }
    results.runs.push_back(std::move(record));
  }
  return results;
}

/// Phase 1 as Theorem 1 has it, with `post_slope` and `pre_slope` as powers of the depth.
inline lab::Initialisation made_up_start(double post_slope = 0, double pre_slope = -0.5,
                                         const lab::Placements& placements = lab::LabOptions().placements) {
  lab::Initialisation start;
  for (const std::int64_t layers : {2, 4, 8, 16, 32, 48})
    for (const lab::Placement& placement : placements) {
      lab::InitialState state{.placement = placement,
                              .layers = layers,
                              .norm_squared = {},
                              .gradient = {},
                              .activation_gradient = {},
                              .weight_share = {0.25, 0.5, 2},
                              .activation_share = {0.2, 0.3, 8}};
      const double power = placement == lab::Placement::pre ? pre_slope : post_slope;
      state.top_gradient = 4 * std::pow(static_cast<double>(layers), power);
      for (std::int64_t l = 1; l <= layers; ++l) {
        state.norm_squared.push_back(placement == lab::Placement::pre ? 1 + static_cast<double>(l) : 1.5);
        state.gradient.push_back(state.top_gradient);
        state.activation_gradient.push_back(state.top_gradient / 4);
      }
      start.states.push_back(state);
    }
  start.jacobian = {1e-10, 0.5, 0.4};
  start.seconds = 2;
  for (const lab::Scheme scheme : {lab::Scheme::xiong, lab::Scheme::gpt2})
    for (const lab::Placement& placement : placements)
      start.schemes.push_back({scheme, placement, {0.5, 0.75, 1}, {0.25, 0.5, 1}, {2, 1.5, 1}});
  return start;
}

/// A little spread between seeds, the same for both placements.
inline double jitter(const lab::RunOptions& run) {
  return 0.001 * static_cast<double>((run.seed * 7 + static_cast<std::uint64_t>(run.layers)) % 5);
}

}  // namespace gradus::test
