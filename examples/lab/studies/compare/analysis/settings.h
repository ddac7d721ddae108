#pragma once
// The compared placements, the settings, and the training runs that follow from them.

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
  std::int64_t seeds = 6;  // with fewer, no difference could be significant (seeds_needed)
  std::int64_t steps = 400;
  std::uint64_t seed = 0;  // the first
};

// Shared by all trainings (training/trial.h).
inline constexpr std::int64_t kWidth = 32, kHeads = 4, kBatch = 16;

/// The settings that distinguish one training from the others.
struct RunOptions {
  nn::Placement placement = nn::pre_ln();
  std::int64_t layers = 2;
  double lr = 1e-3;
  std::int64_t warmup = 0;
  std::uint64_t seed = 0;
  std::optional<bool> final_norm = {};  // not given: the placement's own
  bool residual_scaling = false;

  /// "post-L6-lr0.003-w100-s1", with "-norm", "-nonorm", "-scaled" for the ablations.
  std::string name() const;
};

/// The change of an ablation, to follow "Pre-LN " or the like: "without its final norm", "with a final norm",
/// "with scaled residual init"; "as it is" for other runs.
std::string describe_ablation(const RunOptions& run);

/// The grid of depth x rate x warm-up x placement x seed, then the ablations.
std::vector<RunOptions> plan_runs(const Settings& settings);
/// The depth, rate and warm-up at which the ablations are made: in the middle of the grid, with the shortest
/// warm-up, where a detail can decide whether Post-LN trains.
RunOptions ablation_setting(const Settings& settings);

/// The maximum number of runs of a plan, whose names are held in memory.
constexpr std::int64_t kMostRuns = 100'000;
/// Throws when the settings ask for more.
void check_number_of_runs(const Settings& settings);

}  // namespace gradus::lab::compare
