#pragma once
// One training of the translation study, and the measurement of the model after it.

#include "gradus/nn/placements/placements.h"
#include "lab/studies/translation/sentences.h"
#include "lab/study/study.h"

namespace gradus::lab::translation {

struct TrainOptions {
  nn::Placement placement = nn::pre_ln();
  std::int64_t layers = 6;  // of the encoder, and of the decoder
  std::int64_t d_model = 64, heads = 4, d_ff = 128;

  double lr = 1e-3;         // the highest
  std::int64_t warmup = 0;  // steps, linear; then linearly to 0 at the last step
  std::int64_t steps = 400;
  std::int64_t tokens = 512;  // of a batch at most: its longest text times its pairs
  std::uint64_t seed = 0;
};

/// Rate of update `step`, from 1: min(step / warmup, 1) (1 - (step - 1) / steps) lr.
double rate_at(const TrainOptions& options, std::int64_t step);

/// Trains and measures: "bleu" of greedy translations of the test pairs, 0 where the training diverged;
/// "loss" on them in nats per token, without label smoothing, at most that of the start; "diverged" (1: a
/// batch's loss was not finite or above 4 log(vocabulary), where it ends); "brevity" of the translations; and
/// the series "losses", means of 20 equal parts of the training.
Measured train_and_translate(const Sentences& sentences, const TrainOptions& options);

}  // namespace gradus::lab::translation
