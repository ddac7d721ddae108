#pragma once
// The training loop, and a model's accuracy.

#include "fill_mask/corpus.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::fill_mask {

/// The options of training on `text`, and the settings that must match on --resume.
kit::TrainingOptions training_options(const std::string& text, const Options& options);

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. False after Ctrl-C; a
/// checkpoint is kept in either case.
bool train(kit::TrainingRun& run, const nn::Bert& model, const Corpus& corpus, const Options& options);

struct Score {
  double loss = 0;   // mean cross-entropy of a masked token, in nats
  double right = 0;  // share of masked tokens guessed correctly
};
/// Over all validation windows, with the same masks every time; dropout is off.
Score validate(const nn::Bert& model, const Corpus& corpus, const Options& options);

}  // namespace gradus::fill_mask
