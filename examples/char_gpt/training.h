#pragma once
// The training loop.

#include "char_gpt/options.h"
#include "gradus/kit/data/text_data.h"

namespace gradus::char_gpt {

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. Ctrl-C ends it early; with --run
/// it can be resumed. Says on stdout how long it will take and, now and then, how it goes.
void train(const nn::GPT& model, const kit::TextData& text, const Options& options);

}  // namespace gradus::char_gpt
