#pragma once
// A corpus as tokens, and the training's batches.

#include <cstdint>
#include <optional>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/data/loader.h"
#include "translate/corpus.h"
#include "translate/translator.h"

namespace gradus::translate {

/// Texts and their translations [T] (i64), each ended by the end token.
struct Pairs {
  std::vector<Tensor> source, target;
  std::int64_t left_out = 0;  // pairs with a text that was too long

  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};

/// `longest`: tokens, without the end token.
Pairs tokenized(const text::Tokenizer& tokenizer, const Corpus& corpus, std::int64_t longest);

/// Batches of source [B, Ts] and target [B, Tt], padded, of similar length: B times the longest text of
/// either side is at most `tokens`. Given a generator, the order changes in each epoch. The pairs must
/// outlive the loader.
data::DataLoader<2> batches(const Pairs& pairs, std::int64_t tokens,
                            const std::optional<Generator>& generator = {});

}  // namespace gradus::translate
