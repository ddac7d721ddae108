#pragma once
// The training loop.

#include "char_gpt/options.h"
#include "gradus/distributed/communicator.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::char_gpt {

/// The training's options, and the settings that must match on --resume.
kit::TrainingOptions training_options(const nn::GPTOptions& model, const kit::TextData& text,
                                      const Options& options);

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. Ctrl-C ends it early; with --run
/// it can be resumed. Prints the expected time and, now and then, progress.
void train(const distributed::Communicator& world, kit::TrainingRun& run, const nn::GPT& model,
           const kit::TextData& text, const Options& options);

}  // namespace gradus::char_gpt
