#pragma once
// A text as training data for a masked language model.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fill_mask/options.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/data/mask_tokens.h"
#include "gradus/text/word_piece.h"

namespace gradus::fill_mask {

/// Tokens of a text; its last tenth is for validation.
struct Corpus {
  text::WordPiece tokenizer;
  std::vector<std::int64_t> train, validation;
};

/// Learns a vocabulary from a text and tokenizes the text. Throws if either part is too short for a window.
Corpus make_corpus(const std::string& text, const Options& options);

/// The id of a required token; throws if the vocabulary lacks it. `mask_id(tokenizer)`
std::int64_t cls_id(const text::Tokenizer& tokenizer);
std::int64_t sep_id(const text::Tokenizer& tokenizer);
std::int64_t mask_id(const text::Tokenizer& tokenizer);

/// [CLS], `tokens`, [SEP] as i64 [tokens + 2].
Tensor framed(std::span<const std::int64_t> tokens, const text::Tokenizer& tokenizer);

/// Windows of a part of the corpus, each [context].
class Windows {
 public:
  Windows(const Corpus& corpus, const std::vector<std::int64_t>& tokens, const Options& options);
  std::int64_t size() const;
  /// Window i, masked at random by the generator: ids and targets. Training windows start near i times their
  /// length, so each epoch splits the text at different places.
  std::array<Tensor, 2> masked(std::int64_t i, Generator& generator, bool shifted) const;

 private:
  const Corpus& corpus_;
  const std::vector<std::int64_t>& tokens_;
  std::int64_t length_;  // of a window without [CLS] and [SEP]
  data::MaskOptions masking_;
};

}  // namespace gradus::fill_mask
