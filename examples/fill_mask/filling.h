#pragma once
// Filling the masks of a sentence.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/nn/models/bert.h"
#include "gradus/text/tokenizer.h"

namespace gradus::fill_mask {

struct Guess {
  std::string token;
  double probability = 0;
};

struct Filled {
  std::vector<std::vector<Guess>> masks;  // for each [MASK] of the sentence, most likely first
  std::string sentence;                   // filled with the most likely tokens
};

/// The tokens of a sentence to fill; throws if it has no [MASK] or exceeds the model's context.
text::Ids fillable(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence);

/// Throws like fillable.
Filled fill(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence,
            std::int64_t top);

/// The program's output.
std::string to_text(const Filled& filled);

}  // namespace gradus::fill_mask
