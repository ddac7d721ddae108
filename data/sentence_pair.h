#pragma once
// sentence_pair: what a model learns from that is asked whether one sentence follows another.

#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"

namespace gradus::data {

/// A text as a list of sentences, each its token ids.
using Sentences = std::vector<std::vector<std::int64_t>>;

/// What sentence_pair() gives.
struct SentencePair {
  std::vector<std::int64_t> first, second;  // token ids
  bool follows = false;                     // whether the second stood behind the first; BERT's class 0
};

/// Sentence number `sentence` of a document with the one behind it, or as often with one of another document,
/// drawn with the generator (Devlin et al. 2019, section 3.1). `const auto pair =
/// data::sentence_pair(documents, /*document=*/3, /*sentence=*/0);` Throws unless there is such a sentence
/// with another one behind it, and another document with a sentence.
SentencePair sentence_pair(const std::vector<Sentences>& documents, std::int64_t document,
                           std::int64_t sentence, Generator& generator = default_generator());

}  // namespace gradus::data
