#pragma once
// sentence_pair: training data for next-sentence prediction.

#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"

namespace gradus::data {

/// A text as a list of sentences, each its token ids.
using Sentences = std::vector<std::vector<std::int64_t>>;

/// The result of sentence_pair().
struct SentencePair {
  std::vector<std::int64_t> first, second;  // token ids
  bool follows = false;  // whether the second follows the first in the text; BERT's class 0
};

/// Sentence number `sentence` of a document with the following one or, equally often, with one of another
/// document, drawn with the generator (Devlin et al. 2019, section 3.1). `const auto pair =
/// data::sentence_pair(documents, /*document=*/3, /*sentence=*/0);` Throws unless the document has this
/// sentence and a following one, and another document has a sentence.
SentencePair sentence_pair(const std::vector<Sentences>& documents, std::int64_t document,
                           std::int64_t sentence, Generator& generator = default_generator());

}  // namespace gradus::data
