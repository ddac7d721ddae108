#include "translate/pairs.h"

#include <algorithm>

#include "gradus/gradus.h"

namespace gradus::translate {

Pairs tokenized(const text::Tokenizer& tokenizer, const Corpus& corpus, std::int64_t longest) {
  Pairs pairs;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const text::Ids source = tokens_of(tokenizer, corpus.source[i]);
    const text::Ids target = tokens_of(tokenizer, corpus.target[i]);
    if (static_cast<std::int64_t>(std::max(source.size(), target.size())) > longest + 1) {
      ++pairs.left_out;
      continue;
    }
    pairs.source.push_back(from_vector(source));
    pairs.target.push_back(from_vector(target));
  }
  return pairs;
}

data::DataLoader<2> batches(const Pairs& pairs, std::int64_t tokens,
                            const std::optional<Generator>& generator) {
  const auto item = [&pairs](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::array{pairs.source[at], pairs.target[at]};
  };
  const auto length = [&pairs](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::max(pairs.source[at].size(0), pairs.target[at].size(0));
  };
  return {pairs.size(),
          item,
          {.max_tokens = tokens,
           .shuffle = generator.has_value(),
           .pad = {kPad},
           .length = length,
           .generator = generator}};
}

}  // namespace gradus::translate
