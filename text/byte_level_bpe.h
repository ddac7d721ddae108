#pragma once
// GPT-2's tokenizer: text is bytes, and pairs of tokens that often stand side by side are one token.

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

/// How GPT-2 cuts text into words, with the space before them; merges never cross their borders.
inline constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct BPEOptions {
  /// Cut text into words, each the pieces of the one before. What a pattern leaves out is a word too.
  std::vector<std::string> patterns = {gpt2_pattern};
  std::vector<std::string> special_tokens =
      {};                     // found in text as they are spelled; new ones get ids at the end
  bool prefix_space = false;  // a text begins with a space: RoBERTa's add_prefix_space
  bool compose = false;       // text is put into NFC first: Qwen's
  bool whole_words = false;   // a word that is a token needs no merges: Llama 3's ignore_merges
};

/// Two tokens that become one.
using Merge = std::pair<std::string, std::string>;

/// Byte-level BPE (Radford et al. 2019, Language Models are Unsupervised Multitask Learners): any bytes have
/// ids, and `decode(encode(bytes)) == bytes`, also for bytes that are not UTF-8 (unless composed or
/// prefixed).
///
///   const auto gpt2 = text::ByteLevelBPE::load("gpt2");
///   gpt2.encode("Hello world");  // 15496, 995
class ByteLevelBPE : public Tokenizer {
 public:
  /// Tokens by id and merges, first to last, as a vocabulary file writes them: bytes as printable letters, a
  /// space as "Ġ". Throws when one of the 256 bytes has no token, or a merge names one that is not there.
  ByteLevelBPE(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
               const BPEOptions& options = {});

  /// From a folder with tokenizer.json, vocab.json and merges.txt, or encoder.json and vocab.bpe.
  static ByteLevelBPE load(const std::filesystem::path& folder);
  /// From two such files: `ByteLevelBPE::load("encoder.json", "vocab.bpe")`. Throws when merges are missing:
  /// all tokens but bytes and special ones come from merges (16 others may be there).
  static ByteLevelBPE load(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                           const BPEOptions& options = {});

  std::string bytes(std::int64_t id) const override;  // what a token stands for
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
