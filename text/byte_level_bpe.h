#pragma once
// GPT-2's tokenizer: text is a sequence of bytes, and frequent pairs of adjacent tokens are merged.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradus/text/tokenizer.h"

namespace gradus::text {

namespace detail {
struct BPEParts;
}

/// Splits text into words as GPT-2 does, each with the space before it; merges never cross word boundaries.
inline constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct BPEOptions {
  /// Split text into words; each pattern splits the pieces of the one before. Text between matches is a word
  /// too.
  std::vector<std::string> patterns = {gpt2_pattern};
  std::vector<std::string> special_tokens =
      {};                     // recognized in text by their spelling; new ones get ids at the end
  bool prefix_space = false;  // adds a space before a text: RoBERTa's add_prefix_space
  bool compose = false;       // normalizes text to NFC first: Qwen's
  bool whole_words = false;   // a word that is a token is not built from merges: Llama 3's ignore_merges
};

/// Two tokens that are merged into one.
using Merge = std::pair<std::string, std::string>;

/// Byte-level BPE (Radford et al. 2019, Language Models are Unsupervised Multitask Learners): it encodes any
/// bytes, and `decode(encode(bytes)) == bytes`, also for bytes that are not UTF-8 (unless `compose` or
/// `prefix_space` is set).
///
///   const auto gpt2 = text::ByteLevelBPE::load("gpt2");
///   gpt2.encode("Hello world");  // 15496, 995
class ByteLevelBPE : public Tokenizer {
 public:
  /// Tokens by id and merges in order, spelled as in a vocabulary file: bytes as printable letters, a space
  /// as "Ġ". Throws when one of the 256 bytes has no token, or a merge names a missing token.
  ByteLevelBPE(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
               const BPEOptions& options = {});

  /// Loads a folder with tokenizer.json, vocab.json and merges.txt, or encoder.json and vocab.bpe.
  static ByteLevelBPE load(const std::filesystem::path& folder);
  /// Loads two such files: `ByteLevelBPE::load("encoder.json", "vocab.bpe")`. Throws when merges are missing:
  /// all tokens except bytes and special ones must come from merges (up to 16 exceptions).
  static ByteLevelBPE load(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                           const BPEOptions& options = {});

  std::string bytes(std::int64_t id) const override;  // the bytes of a token
  /// Writes tokenizer.json, vocab.json, merges.txt and special_tokens_map.json.
  void save(const std::filesystem::path& folder) const override;

 protected:
  void encode_plain(std::string_view text, Ids& out) const override;
  std::string join(std::span<const std::int64_t> ids) const override;

 private:
  friend std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);
  struct Tables;
  struct Encoder;
  explicit ByteLevelBPE(detail::BPEParts parts);
  explicit ByteLevelBPE(std::shared_ptr<const Tables> tables);
  std::shared_ptr<const Tables> tables_;
};

}  // namespace gradus::text
