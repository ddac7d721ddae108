#pragma once
// The smallest setting of the lab, for studies of many candidates or of very deep stacks: the recall language
// with 3 boxes of 4 things in documents of 24 characters, models of 16 channels and 2 heads, 8 documents a
// step. A model of 6 layers comes near the entropy within 400 steps of a second together.

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab {

/// Made once.
const Task& tiny_task();

/// Rate and depth are to be set. Linear warm-up over a tenth of the steps, then half a cosine down to 0, so
/// that a loss at the end is no noise of a rate that is still high.
TrialOptions tiny_trial(std::int64_t steps = 400);

/// Whether a final loss is one of a model that looks back: below what the last few characters alone allow
/// (the best n-gram). The rule by which runs "learn" or "fail".
double tiny_baseline();

/// "tiny: ...": the setting in words, for pages.
std::string describe_tiny(std::int64_t steps = 400);

/// The numbers of a trial that every study keeps: loss, start (both on the validation set), diverged.
Measured measured_of(const TrialResult& result);
/// Trains a new model on the tiny task; with `curve`, keeps as many of the losses of its steps as a series
/// "losses".
Measured train_tiny(const TrialOptions& options, std::size_t curve = 0);

}  // namespace gradus::lab
