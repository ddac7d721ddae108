#pragma once
// The two comparisons of the study that keep all rules of the referee: each placement is searched over
// initial weights and rates on some seeds, and its choice is judged on others.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/tiny.h"
#include "lab/study/halving.h"

namespace gradus::lab::placements {

/// A placement, and the initial weights among which its search chooses.
struct Arm {
  nn::Placement placement;
  std::vector<std::string> schemes;  // of weight_schemes(), or kOwnWeights
};
/// The matrices that the placement sets itself.
inline const std::string kOwnWeights = "own";
/// "1/fan_in, scaled", "the paper's".
std::string title_of_weights(const std::string& scheme);

/// The settings that a search chooses for an arm.
struct Design {
  std::string scheme;
  double lr = 0;
};

struct Comparison {
  std::string name;  // in names of runs
  std::int64_t layers = 0, steps = 0;
  bool looks_back = false;  // on the small recall language, until it has learned to look back
  std::vector<Arm> arms;
  std::vector<double> ladder;       // of rates, rising
  std::size_t first = 0, last = 0;  // indices in the ladder: the rates each search begins with
  std::vector<std::uint64_t> searching, judging;
  std::vector<std::size_t> kept;

  const Task& task() const;
  /// As in outcome.h; the target is half-way from there to the entropy.
  double learned_loss() const, target_loss() const;
  std::string title(const Arm& arm) const;  // "B2T, 24 layers"
  std::string run_name(const Arm& arm, const Design& design, std::uint64_t seed) const;
};

/// Each placement proposed for deep stacks, at its best, Pre-LN and Post-LN first: by the loss after the last
/// step, on the language of the study `best`.
Comparison at_best(const StudyOptions& options);
/// Pre-LN first, ReZero, the control, last: a run ends when the loss on the validation set has reached the
/// target.
Comparison looking_back(const StudyOptions& options);

/// Trains a model with these initial weights. "loss", "start", "diverged" as in measured_of(), "steps" to the
/// target (NaN: never): of the smoothed training loss, or where the run `stops` there, of the loss on the
/// validation set.
Measured train_arm(const TrialOptions& options, const std::string& scheme, const Task& task, double target,
                   bool stops);

/// An arm's search and its results, as far as runs have finished. Comparison and arm must outlive it.
class ArmResults {
 public:
  ArmResults(const StudyResults& results, const Comparison& comparison, const Arm& arm);

  const Arm& arm() const { return arm_; }
  std::string title() const { return comparison_.title(arm_); }
  const Searched& searched() const { return searched_; }
  Design design(const Setting& setting) const;
  std::optional<Design> chosen() const;
  /// A number of the judging seeds at the chosen design, in their order; NaN where a run has not finished.
  std::vector<double> numbers(const std::string& name) const;
  /// Of the judging seeds that have finished, how many end below the best n-gram.
  std::int64_t learned() const;

 private:
  /// What the search makes small: the loss; where runs look back, the steps to the target, or for a run that
  /// never reaches it more than all steps, by its loss.
  double badness(const std::string& run) const;

  const StudyResults& results_;
  const Comparison& comparison_;
  const Arm& arm_;
  Searched searched_;
};
std::vector<ArmResults> results_of(const StudyResults& results, const Comparison& comparison);

/// The better of Pre-LN and Post-LN on the searching seeds; nothing before both searches have ended.
const ArmResults* better_of_two(const std::vector<ArmResults>& arms);
/// An arm's loss above that of another, by judging seed; NaN where one of them failed or has not finished.
std::vector<double> above(const Comparison& comparison, const ArmResults& arm, const ArmResults& other);

/// The runs of both comparisons that the plan begins with, and those that follow.
std::vector<StudyRun> plan_searched(const StudyOptions& options);
Following next_searched(const StudyResults& results);

void add_searched_figures(Figures& all, const StudyResults& results);
void add_searched(Page& page, const StudyResults& results);

}  // namespace gradus::lab::placements
