#pragma once
// T5's and Llama 2's tokenizer, using libsentencepiece: unigram and BPE models.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "gradus/text/tokenizer.h"

namespace gradus::text {

struct SentencePieceOptions {
  /// The number of T5's <extra_id_0>, <extra_id_1>, ...: ids after the model's own, the last of which is
  /// <extra_id_0>. Encoding removes the spaces around them.
  std::int64_t extra_ids = 0;
};

/// SentencePiece (Kudo and Richardson 2018).
///
///   const text::SentencePiece t5("t5-small/spiece.model", {.extra_ids = 100});
///   t5.encode("A <extra_id_0> walks");
class SentencePiece : public Tokenizer {
 public:
  /// Reads a model file; throws, naming it, if it is not a model or is cut short.
  explicit SentencePiece(const std::filesystem::path& model, const SentencePieceOptions& options = {});

  /// Loads a folder with T5's spiece.model, which has 100 extra ids unless tokenizer_config.json says
  /// otherwise, or with tokenizer.model.
  static SentencePiece load(const std::filesystem::path& folder);

  /// Replaces "▁" by a space; a token such as <0xE2> is that byte.
  std::string bytes(std::int64_t id) const override;
  /// Writes spiece.model, if there are extra ids, else tokenizer.model, and tokenizer_config.json,
  /// special_tokens_map.json and, if tokens were added, added_tokens.json.
  void save(const std::filesystem::path& folder) const override;

 protected:
  void encode_plain(std::string_view text, Ids& out) const override;
  std::string join(std::span<const std::int64_t> ids) const override;

 private:
  struct Model;
  explicit SentencePiece(std::shared_ptr<const Model> model);
  std::shared_ptr<const Model> model_;
};

}  // namespace gradus::text
