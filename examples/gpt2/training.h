#pragma once
// A text as training data for a language model, and the training.

#include <cstdint>
#include <string>
#include <vector>

#include "gpt2/writer.h"
#include "gradus/distributed/communicator.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::gpt2 {

/// Tokens of a text; its end is for validation.
struct Corpus {
  std::vector<std::int32_t> train, validation;
  std::int64_t context = 0;  // of a window
};

/// The text as the writer's tokens. The last tenth, at most 50,000 tokens, is for validation. Throws if one
/// of the parts is too short for a window.
Corpus make_corpus(const std::string& text, const Writer& writer, const Options& options);

/// The options of training on `text`, and the settings that must match on --resume; without a tokenizer, one
/// is learned from the text.
kit::TrainingOptions training_options(const nn::GPTOptions& model, const text::Tokenizer* tokenizer,
                                      const std::string& text, const Options& options);

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. False after Ctrl-C; a checkpoint
/// is kept in either case.
bool train(const distributed::Communicator& world, kit::TrainingRun& run, const nn::GPT& model,
           const Corpus& corpus, const Options& options);

}  // namespace gradus::gpt2
