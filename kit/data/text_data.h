#pragma once
// A text file as training data: characters as tokens, split in two parts.
//
//   const kit::TextData text = kit::load_text("shakespeare.txt", /*context=*/64);
//   const auto [x, y] = data::random_windows(text.train, /*count=*/16, 64);  // i64 [16, 64] each

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::kit {

/// Tokens of characters: a vector that converts to an i64 tensor [size].
/// `const auto [x, y] = data::text_windows(text.train, /*context=*/64);`
struct Tokens : std::vector<std::int32_t> {
  using std::vector<std::int32_t>::vector;  // the constructors of a vector
  operator Tensor() const;
};

/// The characters that a model knows, sorted by code point; a character's token is its position.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// All characters that occur in `text`.
  explicit Vocabulary(std::u32string_view text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  const std::u32string& characters() const { return characters_; }  // in order

  /// The tokens of the characters; throws naming the first character that is not in the vocabulary.
  /// `Tensor ids = gpt.generate(vocabulary.encode("To be"), /*count=*/100);`
  Tokens encode(std::u32string_view text) const;
  Tokens encode(std::string_view utf8) const;
  /// The text, as UTF-8; throws for a token outside 0 .. size-1, and for a tensor that is not i64 [N].
  std::string decode(const Tensor& tokens) const;
  std::string decode(const Tokens& tokens) const { return decode(std::span<const std::int32_t>(tokens)); }
  std::string decode(std::span<const std::int32_t> tokens) const;
  std::string decode(std::span<const std::int64_t> tokens) const;

 private:
  std::u32string characters_;
};

/// A text, split by position: the first part for training, the rest for validation.
struct TextData {
  Vocabulary vocabulary;  // of the whole text
  Tokens train;           // the first part
  Tokens validation;      // the rest
};

/// Splits a text after `train_share` of its characters. Throws, naming `source`, when the text is empty or a
/// part is shorter than `context` + 1 characters, the least for a window and its targets.
TextData split_text(std::string_view utf8, std::int64_t context, double train_share = 0.9,
                    std::string_view source = "the text");

/// The same for a file of any bytes: each byte that is not UTF-8 becomes one character. Skips a byte order
/// mark at the beginning.
TextData load_text(const std::filesystem::path& path, std::int64_t context, double train_share = 0.9);

/// The bytes of a text file, or of a pipe. Throws, naming `who` and the file, if one of them is 0: archives,
/// pictures and UTF-16 contain such bytes, text in UTF-8 or an older encoding does not. Skips a byte order
/// mark at the beginning.
/// `const std::string text = kit::read_text(options.text, "--text");`
std::string read_text(const std::filesystem::path& path, const char* who = "read_text");

}  // namespace gradus::kit
