#pragma once
// BERT's tokenizer: removes accents and capitals and splits words into the longest pieces in the vocabulary.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/text/tokenizer.h"

namespace gradus::text {

namespace detail {
struct WordPieceParts;
}

struct WordPieceOptions {
  bool lowercase = true;                // "uncased" models
  std::optional<bool> strip_accents{};  // not given: as lowercase
  bool clean = true;                    // drops control characters and bytes that are not UTF-8
  bool space_cjk = true;                // each Chinese character is a word
  std::string unknown = "[UNK]";        // for words that the vocabulary cannot represent
  std::string prefix = "##";            // of pieces that continue a word
  std::int64_t longest_word = 100;      // in characters; longer ones are unknown
  /// Tokens that are not words.
  std::vector<std::string> special_tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
};

/// WordPiece as in BERT (Devlin et al. 2019). Decoding does not restore capitals and spacing.
///
///   const auto bert = text::WordPiece::load("bert-base-uncased");
///   bert.encode("unaffable");  // un ##aff ##able
class WordPiece : public Tokenizer {
 public:
  /// Tokens by id; ignores special tokens that are not among them. Throws if `unknown` is not among them.
  explicit WordPiece(const std::vector<std::string>& tokens, const WordPieceOptions& options = {});

  /// Loads a folder with tokenizer.json or vocab.txt; tokenizer_config.json says whether to lower letters.
  static WordPiece load(const std::filesystem::path& folder);
  /// Loads a file with a token in each line: `WordPiece::load("vocab.txt", {.lowercase = false})`
  static WordPiece load(const std::filesystem::path& vocab, const WordPieceOptions& options);

  std::string bytes(std::int64_t id) const override;  // the bytes of a token
  /// Writes tokenizer.json, vocab.txt, special_tokens_map.json and tokenizer_config.json.
  void save(const std::filesystem::path& folder) const override;

 protected:
  void encode_plain(std::string_view text, Ids& out) const override;
  std::string join(std::span<const std::int64_t> ids) const override;

 private:
  friend std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);
  struct Tables;
  struct Encoder;
  explicit WordPiece(detail::WordPieceParts parts);
  explicit WordPiece(std::shared_ptr<const Tables> tables);
  std::shared_ptr<const Tables> tables_;
};

}  // namespace gradus::text
