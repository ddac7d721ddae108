#pragma once
// The lab's command line and what it means in runs.

#include <filesystem>
#include <optional>
#include <vector>

#include "lab/start/initialisation.h"
#include "lab/training/training.h"

namespace gradus::lab {

struct LabOptions {
  bool quick = false;
  std::filesystem::path text;  // empty: the recall language
  std::filesystem::path out;   // empty: lab-results/<date and time>
  std::filesystem::path resume;
  std::uint64_t seed = 0;
  std::int64_t threads = 0;    // runs trained side by side
  bool threads_given = false;  // on the command line: then it also holds for a resumed lab
  std::int64_t seeds = 3;
  std::vector<std::int64_t> depths;
  std::vector<double> lrs;
  std::vector<std::int64_t> warmups;
  Placements placements = {Placement::pre, Placement::post};
  ModelOptions model;
  RecallOptions recall;
  InitialisationOptions initialisation;
};

/// Reads the command line; an exit status when the program should not go on.
std::optional<int> parse(int argc, const char* const* argv, LabOptions& options);

/// The most runs a lab may have: their names alone are a list to be held in memory.
constexpr std::int64_t kMostRuns = 100'000;
/// Throws when the options ask for more.
void check_number_of_runs(const LabOptions& options);

/// All training runs: the grid of placement x depth x rate x warm-up x seed, then the ablations.
std::vector<RunOptions> plan_runs(const LabOptions& options);
/// The depth, rate and warm-up at which the ablations are made: in the middle of the grid, with the shortest
/// warm-up, where a detail can decide whether Post-LN trains.
RunOptions ablation_setting(const LabOptions& options);

}  // namespace gradus::lab
