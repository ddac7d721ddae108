#pragma once
// Runs that fail and targets that are never reached: neither is a number to average.

#include <cstdint>
#include <span>
#include <vector>

#include "lab/statistics/intervals.h"

namespace gradus::lab {

/// Runs of one arm, separated into failed and surviving ones. A run has failed when it ends at or above the
/// loss of predicting without context, or nowhere (NaN).
struct Survival {
  std::int64_t failed = 0, runs = 0;
  Interval share = {0, 1};             // of failures: Clopper and Pearson's interval
  std::vector<double> surviving = {};  // the losses of the others: the only ones with a mean
};
Survival survival_of(std::span<const double> losses, double context_free_loss, double level = 0.95);
/// The losses with NaN in place of those of failed runs: a difference with one is NaN, too.
std::vector<double> without_failed(std::vector<double> losses, double context_free_loss);

/// Steps to a target, NaN for a run that never reached it: that is not a number, so there is no mean and no
/// ratio.
struct Reached {
  std::int64_t reached = 0, runs = 0;
  /// The share of runs that have not reached it after `step` steps.
  double open_after(double step) const;
  std::vector<double> steps = {};  // of those that have, rising
};
Reached reached_of(std::span<const double> steps);

/// 1 if one seed's run reached the target in `a` steps, at least `factor` times sooner than another in `b`,
/// else 0. A run that never reaches it (NaN) is never sooner; one that does is sooner than one that never
/// does.
double sooner(double a, double b, double factor = 1);

}  // namespace gradus::lab
