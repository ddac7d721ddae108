#pragma once
// A text as what a language model is trained on, and the training.

#include <cstdint>
#include <string>
#include <vector>

#include "gpt2/writer.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::gpt2 {

/// Tokens of a text; its end validates.
struct Corpus {
  std::vector<std::int32_t> train, validation;
  std::int64_t context = 0;  // of a window
};

/// The text as the writer's tokens. The last tenth validates, at most 50,000 tokens. Throws where one of the
/// parts is too short for a window.
Corpus make_corpus(const std::string& text, const Writer& writer, const Options& options);

/// How the training of a model on `text` runs, and what must be the same where it goes on; no tokenizer
/// stands for one that is learned from the text.
kit::TrainingOptions training_options(const nn::GPTOptions& model, const text::Tokenizer* tokenizer,
                                      const std::string& text, const Options& options);

/// AdamW with decay on matrices only, warm-up and cosine, clipped gradients. False after Ctrl-C; a checkpoint
/// is kept in either case.
bool train(kit::TrainingRun& run, const nn::GPT& model, const Corpus& corpus, const Options& options);

}  // namespace gradus::gpt2
