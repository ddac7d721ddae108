#pragma once
// The training loop, and the loss over a whole text.

#include "char_gpt/options.h"
#include "gradus/kit/data/text_data.h"

namespace gradus::char_gpt {

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. Ctrl-C ends it early; with --run
/// it can be resumed. Says on stdout how long it will take and, now and then, how it goes.
void train(const nn::GPT& model, const kit::TextData& text, const Options& options);

/// Mean cross-entropy in nats over all characters, in windows side by side; dropout is off.
double loss_over(const nn::GPT& model, std::span<const std::int32_t> tokens);

}  // namespace gradus::char_gpt
