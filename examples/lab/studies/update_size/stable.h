#pragma once
// Updates of runs that survive: Post-LN without warm-up at the largest rate at which it trains (climb.h), and
// DeepNorm and Admin, the controls, at the rate at which it fails. A run that fails soon moves little,
// whatever broke it.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/climb.h"
#include "lab/study/study.h"

namespace gradus::lab::update_size {

inline constexpr std::array<const char*, 2> kControls = {"DeepNorm", "Admin"};
inline constexpr std::size_t kFirstUpdates = 20;  // among which the largest is compared

struct StableGrid {
  std::int64_t layers = 12, steps = 300;
  std::vector<double> ladder = {};  // of rates, a quarter of a decade apart
  std::vector<std::uint64_t> searching = {}, judging = {};
};
StableGrid stable_grid_of(const StudyOptions& options);

/// A run fails when it ends at the loss of predicting without context or above (outcomes.h).
bool survives(double loss);

/// "rate-Post-LN-lr0.0003-s3170"
std::string rate_name(const std::string& placement, double lr, std::uint64_t seed);
/// Trains without warm-up. Numbers "loss", "gradient" (norm of the whole gradient at the first step) and
/// "update", the largest change of a batch's logits by one of the first kFirstUpdates updates (root mean
/// square); series "losses" and "updates".
Measured measure_rate(const std::string& placement, double lr, std::uint64_t seed, std::int64_t layers,
                      std::int64_t steps);

/// The climb of Post-LN.
Climbed climb_of(const StudyResults& results, const StableGrid& grid);
/// Of the judging seeds, in their order; NaN where a run has not finished.
std::vector<double> judged_numbers(const StudyResults& results, const StableGrid& grid,
                                   const std::string& placement, double lr, const std::string& number);

/// All runs that the results so far ask for; without results those of the lowest rate.
Following stable_runs(const StudyResults& results);
void add_stable_figures(Figures& figures, const StudyResults& results);
void report_stable(Page& page, const StudyResults& results);

}  // namespace gradus::lab::update_size
