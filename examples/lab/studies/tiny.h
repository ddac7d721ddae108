#pragma once
// The smallest setting of the lab, for studies of many candidates or of very deep stacks: the recall language
// with 3 boxes of 4 things in documents of 24 characters, models of 16 channels and 2 heads, 8 documents per
// step. A model of 6 layers comes near the entropy within 400 steps, about a second.

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab {

/// Made once.
const Task& tiny_task();

/// Set rate and depth. Linear warm-up over a tenth of the steps, then half a cosine down to 0, so the final
/// loss does not carry the noise of a high rate.
TrialOptions tiny_trial(std::int64_t steps = 400);

/// The loss that the last few characters alone allow (the best n-gram): a run below it has learned to look
/// back.
double tiny_baseline();

/// "tiny: ...": the setting as a sentence, for pages.
std::string describe_tiny(std::int64_t steps = 400);

/// The numbers of a trial that every study keeps: loss, start (both on the validation set), diverged.
Measured measured_of(const TrialResult& result);
/// Trains a new model on the tiny task; with `curve`, keeps as many of the losses of its steps as a series
/// "losses".
Measured train_tiny(const TrialOptions& options, std::size_t curve = 0);

}  // namespace gradus::lab
