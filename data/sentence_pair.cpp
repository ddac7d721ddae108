#include "gradus/data/sentence_pair.h"

#include <algorithm>

#include "gradus/core/detail/format.h"

namespace gradus::data {

namespace {

/// A random sentence of a document other than `but`; all such documents with sentences are equally likely.
const std::vector<std::int64_t>& sentence_of_another(const std::vector<Sentences>& documents, std::size_t but,
                                                     Generator& generator) {
  std::vector<const Sentences*> others;
  for (std::size_t i = 0; i < documents.size(); ++i)
    if (i != but && !documents[i].empty()) others.push_back(&documents[i]);
  check(!others.empty(), "sentence_pair: expects another document with sentences among the {} to draw from",
        documents.size());
  const Sentences& other = *others[static_cast<std::size_t>(generator.below(std::ssize(others)))];
  return other[static_cast<std::size_t>(generator.below(std::ssize(other)))];
}

}  // namespace

SentencePair sentence_pair(const std::vector<Sentences>& documents, std::int64_t document,
                           std::int64_t sentence, Generator& generator) {
  check(document >= 0 && document < std::ssize(documents),
        "sentence_pair: expects a document number below {}, got {}", documents.size(), document);
  const auto number = static_cast<std::size_t>(document), at = static_cast<std::size_t>(sentence);
  const Sentences& own = documents[number];
  check(sentence >= 0 && sentence < std::ssize(own) - 1,
        "sentence_pair: expects a sentence that another follows, of the {} in document {}, got {}",
        own.size(), document, sentence);
  const bool follows = generator.uniform() < 0.5;
  return {own[at], follows ? own[at + 1] : sentence_of_another(documents, number, generator), follows};
}

}  // namespace gradus::data
