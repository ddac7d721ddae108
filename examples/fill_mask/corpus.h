#pragma once
// A text as what a masked language model is trained on.

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

/// Tokens of a text; the last tenth of the text validates.
struct Corpus {
  text::WordPiece tokenizer;
  std::vector<std::int64_t> train, validation;
};

/// Learns a vocabulary from a text and cuts the text into its tokens. Throws when there are too few for a
/// window in either part.
Corpus make_corpus(const std::string& text, const Options& options);

/// The id of a token that such a model needs; throws where the vocabulary has none. `mask_id(tokenizer)`
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
  /// Window i, with other tokens masked for another state of the generator: ids and targets. Training windows
  /// begin anywhere near i times their length, so that each epoch cuts the text elsewhere.
  std::array<Tensor, 2> masked(std::int64_t i, Generator& generator, bool shifted) const;

 private:
  const Corpus& corpus_;
  const std::vector<std::int64_t>& tokens_;
  std::int64_t length_;  // of a window without [CLS] and [SEP]
  data::MaskOptions masking_;
};

}  // namespace gradus::fill_mask
