#pragma once
// What every tokenizer does: text into numbers and back. docs/tokenizers.md shows them at work.
//
//   const auto tokenizer = text::load_tokenizer("gpt2");  // a folder as Hugging Face lays it out
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

/// Numbers of tokens.
using Ids = std::vector<std::int64_t>;

/// Tokens with a meaning of their own; those a vocabulary does not have are empty.
struct SpecialIds {
  std::optional<std::int64_t> bos{}, eos{};  // where a text begins and ends
  std::optional<std::int64_t> pad{}, unk{};  // fills up a batch; stands for what the vocabulary cannot say
  std::optional<std::int64_t> cls{}, sep{}, mask{};  // BERT's
};

struct DecodeOptions {
  bool skip_special = false;  // leave special tokens out, as Hugging Face's skip_special_tokens does
};

/// Input of a BERT: ids, and 0 or 1 for the text each belongs to.
struct Encoding {
  Ids ids, token_types;  // one for each token
};

/// Text into ids and back. Copies share their tables, and any number of threads may use one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The ids of a text; special tokens that are spelled out in it, such as "[MASK]", count as such. Nothing
  /// is added at the ends. `Tensor x = from_vector(tokenizer.encode("To be"));`
  Ids encode(std::string_view text) const;
  /// The same with special tokens taken as plain text: for text of strangers.
  Ids encode_ordinary(std::string_view text) const;
  /// A text or two between BERT's marks: `[CLS] first [SEP]`, or `[CLS] first [SEP] second [SEP]`. Where that
  /// is more than max_length tokens, the longer text loses its last one, again and again; 0 means any length.
  /// Throws where the vocabulary has no such tokens. `bert->encode_pair("Who?", "Nobody.", 512)`
  Encoding encode_pair(std::string_view first, std::optional<std::string_view> second = {},
                       std::int64_t max_length = 0) const;

  /// The text of ids; throws, naming it, at one that is no token.
  /// `tokenizer.decode(ids, {.skip_special = true})`
  std::string decode(std::span<const std::int64_t> ids, const DecodeOptions& options = {}) const;
  /// The same for i64 [N]; a row of a batch is `ids[0]`.
  std::string decode(const Tensor& ids, const DecodeOptions& options = {}) const;
  /// The bytes a token adds to a text that it goes on with: for printing while a model writes
  /// (utf8_stream.h).
  virtual std::string bytes(std::int64_t id) const = 0;

  /// The largest id and 1: what an embedding must have rows for, at least.
  std::int64_t vocab_size() const;
  /// A token as the vocabulary writes it, "Ġthe", "##ing" or "▁the"; throws where there is none of this id.
  std::string token(std::int64_t id) const;
  /// Its id; throws where the vocabulary does not have it. `tokenizer.id("[MASK]")`
  std::int64_t id(std::string_view token) const;
  /// The same, empty where the vocabulary does not have it.
  std::optional<std::int64_t> find(std::string_view token) const;
  bool is_special(std::int64_t id) const;
  SpecialIds special() const;

  /// Writes the files that load_tokenizer reads, and Hugging Face's libraries; makes the folder.
  virtual void save(const std::filesystem::path& folder) const = 0;

 protected:
  explicit Tokenizer(std::shared_ptr<const detail::Tokens> tokens) : tokens_(std::move(tokens)) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

  /// Appends the ids of text in which no special token counts.
  virtual void encode_plain(std::string_view text, Ids& out) const = 0;
  /// The text of ids that are all tokens.
  virtual std::string join(std::span<const std::int64_t> ids) const = 0;

  std::shared_ptr<const detail::Tokens> tokens_;
};

/// The tokenizer of a folder, found by its files, in this order:
///
/// | files | tokenizer |
/// |---|---|
/// | spiece.model, tokenizer.model | SentencePiece (sentence_piece.h) |
/// | source.spm, target.spm and vocab.json | Marian's: encode by the first, decode by the second |
/// | tokenizer.json | ByteLevelBPE or WordPiece, as it says |
/// | vocab.json and merges.txt, or encoder.json and vocab.bpe | ByteLevelBPE (byte_level_bpe.h) |
/// | vocab.txt | WordPiece (word_piece.h) |
///
/// special_tokens_map.json, tokenizer_config.json and added_tokens.json are read where they are there. Throws
/// naming file, key and remedy where one is missing, cut short or wrong, and where config.json has a
/// vocab_size that does not fit: smaller than the tokenizer's, or larger by 1024 and more.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace gradus::text
