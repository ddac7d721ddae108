#pragma once
// The record of a training in a study, and numbers that several studies compute from many of them. The
// rules were fixed before the first run:
//
//   learned     the loss on the validation set ends below learned_loss(), that of the best n-gram, n = 1 to 4
//   converged   the mean of 20 training losses in a row has come down to target_loss()
//   diverged    as in TrialResult; such a run counts with its loss at the start

#include <vector>

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab {

/// For the recall language: a run that ends below it predicts better than the best n-gram of n = 1 to 4, the
/// 3-gram. Larger n would be better.
double learned_loss();
/// Three quarters of the way from there down to the entropy.
double target_loss();

/// Numbers "loss", "diverged" (0 or 1) and "steps" to the target loss (NaN: never), and the training loss as
/// a series "losses": means of `points` equal slices.
Measured outcome_of(const TrialResult& result, std::size_t points = 12);

/// The means of `count` equal slices, or the values where there are no more than that.
std::vector<double> slice_means(const std::vector<double>& values, std::size_t count);

}  // namespace gradus::lab
