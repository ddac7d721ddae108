#pragma once
// What is compared, at which settings, and the training runs that follow from it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/compare/analysis/placements.h"

namespace gradus::lab::compare {

struct Settings {
  Placements placements = {nn::pre_ln(), nn::post_ln()};
  std::vector<std::int64_t> depths = {2, 6, 12};
  std::vector<double> lrs = {1e-3, 3e-3, 1e-2, 3e-2};
  std::vector<std::int64_t> warmups = {0, 100};
  std::int64_t seeds = 6;  // fewer could tell nothing from chance (seeds_needed)
  std::int64_t steps = 400;
  std::uint64_t seed = 0;  // the first
};

// What all trainings share (training/trial.h).
inline constexpr std::int64_t kWidth = 32, kHeads = 4, kBatch = 16;

/// What sets one training apart from the others.
struct RunOptions {
  nn::Placement placement = nn::pre_ln();
  std::int64_t layers = 2;
  double lr = 1e-3;
  std::int64_t warmup = 0;
  std::uint64_t seed = 0;
  std::optional<bool> final_norm = {};  // not given: as the placement has it
  bool residual_scaling = false;

  /// "post-L6-lr0.003-w100-s1", with "-norm", "-nonorm", "-scaled" for the ablations.
  std::string name() const;
};

/// What an ablation changes, after "Pre-LN " or the like: "without its final norm", "with a final norm",
/// "with scaled residual init"; "as it is" for a run that is none.
std::string ablation_words(const RunOptions& run);

/// The grid of depth x rate x warm-up x placement x seed, then the ablations.
std::vector<RunOptions> plan_runs(const Settings& settings);
/// The depth, rate and warm-up at which the ablations are made: in the middle of the grid, with the shortest
/// warm-up, where a detail can decide whether Post-LN trains.
RunOptions ablation_setting(const Settings& settings);

/// The most runs a plan may have: their names alone are a list to be held in memory.
constexpr std::int64_t kMostRuns = 100'000;
/// Throws when the settings ask for more.
void check_number_of_runs(const Settings& settings);

}  // namespace gradus::lab::compare
