#pragma once
// T5's and Llama 2's tokenizer, by libsentencepiece: models of the kinds unigram and BPE.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "gradus/text/tokenizer.h"

namespace gradus::text {

struct SentencePieceOptions {
  /// T5's <extra_id_0>, <extra_id_1>, ...: so many ids after the model's own, the last of them <extra_id_0>.
  /// They take the spaces around them with them.
  std::int64_t extra_ids = 0;
};

/// SentencePiece (Kudo and Richardson 2018).
///
///   const text::SentencePiece t5("t5-small/spiece.model", {.extra_ids = 100});
///   t5.encode("A <extra_id_0> walks");
class SentencePiece : public Tokenizer {
 public:
  /// Reads a model file; throws, naming it, where it is none or cut short.
  explicit SentencePiece(const std::filesystem::path& model, const SentencePieceOptions& options = {});

  /// From a folder with spiece.model, T5's, with 100 extra ids unless tokenizer_config.json says otherwise,
  /// or tokenizer.model.
  static SentencePiece load(const std::filesystem::path& folder);

  /// With a space for "▁"; a token such as <0xE2> is that byte.
  std::string bytes(std::int64_t id) const override;
  /// Writes spiece.model, where there are extra ids, or tokenizer.model, tokenizer_config.json,
  /// special_tokens_map.json and, where tokens were added, added_tokens.json.
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
