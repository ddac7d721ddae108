#pragma once
// The training loop, and how well a model guesses.

#include "fill_mask/corpus.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::fill_mask {

/// How the training of a model on `text` runs, and what must be the same where it goes on.
kit::TrainingOptions training_options(const std::string& text, const Options& options);

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. False after Ctrl-C; a
/// checkpoint is kept in either case.
bool train(kit::TrainingRun& run, const nn::Bert& model, const Corpus& corpus, const Options& options);

struct Score {
  double loss = 0;   // mean cross-entropy of a masked token, in nats
  double right = 0;  // share of masked tokens that are guessed
};
/// Over all windows of the validating part, each with the same masks every time; dropout is off.
Score validate(const nn::Bert& model, const Corpus& corpus, const Options& options);

}  // namespace gradus::fill_mask
