#pragma once
// The curvature of runs that survive: momentum SGD at the largest rates at which it trains without and with
// warm-up (climb.h). A run that fails ends in a flat place, so its curvature says nothing about the reason.
// The controls are placements made for training without warm-up.

#include <optional>
#include <string>
#include <vector>

#include "lab/study/climb.h"
#include "lab/study/study.h"

namespace gradus::lab::optimizers {

struct StableArm {
  std::string word, title;  // in names of runs and measures: "post"; the placement's name: "Post-LN"
  bool control = false;     // only without warm-up
  std::string described(bool warm) const;  // "Post-LN with warm-up"
};

struct StableGrid {
  std::int64_t layers = 6, steps = 400, warmup = 100;
  std::vector<std::int64_t> curve_steps = {};  // the sharpness is measured before these
  std::vector<StableArm> arms = {};
  std::vector<double> ladder = {};  // of rates, a quarter of a decade apart
  std::vector<std::uint64_t> searching = {}, judging = {};
  /// The index in curve_steps of the last step of warm-up.
  std::size_t end_of_warmup() const;
};
StableGrid stable_grid_of(const StudyOptions& options);

/// A run fails when it ends at the loss of predicting without context or above (outcomes.h).
bool survives(double loss);

/// A training of an arm with warm-up or without.
struct StableDesign {
  bool warm = false;
  double lr = 0;
  bool operator==(const StableDesign&) const = default;
};
/// "stable-post-warm-lr0.03-s3170" searches, "stable-curve-post-warm-lr0.03-s3280" judges.
std::string search_name(const StableArm& arm, const StableDesign& design, std::uint64_t seed);
std::string curve_name(const StableArm& arm, const StableDesign& design, std::uint64_t seed);

/// An arm's largest stable rates and its runs on the judging seeds, as far as they have finished.
class Stable {
 public:
  Stable(const StudyResults& results, const StableGrid& grid, const StableArm& arm);

  const StableArm& arm() const { return arm_; }
  const Climbed& climbed(bool warm) const { return warm ? warm_ : cold_; }
  std::optional<double> rate(bool warm) const;
  /// The designs that are judged: at its largest stable rate with warm-up, and there without; at its largest
  /// without, and there with it. A control only at its largest without.
  std::vector<StableDesign> judged() const;

  /// Of the judging seeds, in their order; NaN where a run has not finished. The sharpness at an index of
  /// curve_steps is NaN, too, for a run that failed.
  std::vector<double> losses(const StableDesign& design) const;
  std::vector<double> sharpness(const StableDesign& design, std::size_t place) const;

 private:
  const StudyResults& results_;
  const StableGrid& grid_;
  StableArm arm_;
  Climbed cold_, warm_;
};

/// All runs that the results so far ask for; without results those of the lowest rates.
Following stable_runs(const StudyResults& results);
void add_stable_figures(Figures& figures, const StudyResults& results);
void report_stable(Page& page, const StudyResults& results);

}  // namespace gradus::lab::optimizers
