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
  std::vector<std::vector<Guess>> masks;  // for each [MASK] of the sentence, the likeliest first
  std::string sentence;                   // with the likeliest in their places
};

/// The tokens of a sentence that a model can fill; throws when it has no [MASK], or more than the model looks
/// at.
text::Ids fillable(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence);

/// Throws where fillable does.
Filled fill(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence,
            std::int64_t top);

/// As the program prints it.
std::string to_text(const Filled& filled);

}  // namespace gradus::fill_mask
