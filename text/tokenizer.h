#pragma once
// Tokenizer: the interface of all tokenizers, text into ids and back. See docs/tokenizers.md for examples.
//
//   const auto tokenizer = text::load_tokenizer("gpt2");  // a folder with Hugging Face's layout
//   const std::vector<std::int64_t> ids = tokenizer->encode("To be, or not");
//   std::cout << tokenizer->decode(ids);

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::text {

namespace detail {
class Tokens;
}

/// Token ids.
using Ids = std::vector<std::int64_t>;

/// The ids of special tokens; nullopt if the vocabulary does not have them.
struct SpecialIds {
  std::optional<std::int64_t> bos{}, eos{};  // begin and end a text
  std::optional<std::int64_t> pad{}, unk{};  // padding of a batch; text that the vocabulary cannot represent
  std::optional<std::int64_t> cls{}, sep{}, mask{};  // BERT's
};

struct DecodeOptions {
  bool skip_special = false;  // leave out special tokens, like Hugging Face's skip_special_tokens
};

/// Input of a BERT: ids, and for each the number of its text, 0 or 1.
struct Encoding {
  Ids ids, token_types;  // one for each token
};

/// Converts text into ids and back. Copies share their tables, and any number of threads may use one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The ids of a text; special tokens spelled out in it, such as "[MASK]", are recognized. Adds nothing at
  /// the ends. `Tensor x = from_vector(tokenizer.encode("To be"));`
  Ids encode(std::string_view text) const;
  /// The same, but treats special tokens as plain text: for untrusted text.
  Ids encode_ordinary(std::string_view text) const;
  /// One or two texts with BERT's special tokens: `[CLS] first [SEP]`, or `[CLS] first [SEP] second [SEP]`.
  /// If that exceeds max_length tokens, tokens are removed one by one from the end of the longer text; 0
  /// means any length. Throws if the vocabulary has no such tokens. `bert->encode_pair("Who?", "Nobody.",
  /// 512)`
  Encoding encode_pair(std::string_view first, std::optional<std::string_view> second = {},
                       std::int64_t max_length = 0) const;

  /// The text of ids; throws, naming the id, if it is not a token.
  /// `tokenizer.decode(ids, {.skip_special = true})`
  std::string decode(std::span<const std::int64_t> ids, const DecodeOptions& options = {}) const;
  /// The same for i64 [N]; a row of a batch is `ids[0]`.
  std::string decode(const Tensor& ids, const DecodeOptions& options = {}) const;
  /// The bytes that a token adds to the text before it: for printing during generation (utf8_stream.h).
  virtual std::string bytes(std::int64_t id) const = 0;

  /// The largest id + 1: the least number of rows of an embedding.
  std::int64_t vocab_size() const;
  /// A token as spelled in the vocabulary, "Ġthe", "##ing" or "▁the"; throws if no token has this id.
  std::string token(std::int64_t id) const;
  /// Its id; throws if the vocabulary does not have it. `tokenizer.id("[MASK]")`
  std::int64_t id(std::string_view token) const;
  /// The same; nullopt if the vocabulary does not have it.
  std::optional<std::int64_t> find(std::string_view token) const;
  bool is_special(std::int64_t id) const;
  SpecialIds special() const;

  /// Writes the files that load_tokenizer and Hugging Face's libraries read; makes the folder.
  virtual void save(const std::filesystem::path& folder) const = 0;

 protected:
  explicit Tokenizer(std::shared_ptr<const detail::Tokens> tokens) : tokens_(std::move(tokens)) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

  /// Appends the ids of text without special tokens.
  virtual void encode_plain(std::string_view text, Ids& out) const = 0;
  /// The text of valid ids.
  virtual std::string join(std::span<const std::int64_t> ids) const = 0;

  std::shared_ptr<const detail::Tokens> tokens_;
};

/// Loads the tokenizer of a folder, chosen by its files, in this order:
///
/// | files | tokenizer |
/// |---|---|
/// | spiece.model, tokenizer.model | SentencePiece (sentence_piece.h) |
/// | source.spm, target.spm and vocab.json | Marian's: encodes with the first, decodes with the second |
/// | tokenizer.json | ByteLevelBPE or WordPiece, depending on its type |
/// | vocab.json and merges.txt, or encoder.json and vocab.bpe | ByteLevelBPE (byte_level_bpe.h) |
/// | vocab.txt | WordPiece (word_piece.h) |
///
/// Also reads special_tokens_map.json, tokenizer_config.json and added_tokens.json if they exist. Throws,
/// naming file, key and remedy, if a file is missing, cut short or invalid, and if config.json has a
/// vocab_size that does not fit: smaller than the tokenizer's, or larger by 1024 or more.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace gradus::text
