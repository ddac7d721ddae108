// Writes tokenizer.json in the format of Hugging Face's tokenizers.

#include "gradus/text/detail/parts.h"

namespace gradus::text::detail {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered added_tokens(const Tokens& tokens) {
  Ordered list = Ordered::array();
  for (const Added& added : tokens.all_added())
    list.push_back({{"id", added.id},
                    {"content", tokens.token(added.id, "save")},
                    {"single_word", false},
                    {"lstrip", added.strip_before},
                    {"rstrip", added.strip_after},
                    {"normalized", false},
                    {"special", added.special}});
  return list;
}

Ordered file_with(const Tokens& tokens) {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens(tokens)}};
}

Ordered byte_level(bool prefix_space, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix_space},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

Ordered pre_tokenizer(const BPEOptions& options) {
  if (options.patterns == std::vector<std::string>{gpt2_pattern})
    return byte_level(options.prefix_space, true);
  if (options.patterns.empty()) return byte_level(options.prefix_space, false);
  Ordered parts = Ordered::array();
  for (const std::string& pattern : options.patterns)
    parts.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  parts.push_back(byte_level(false, false));
  return {{"type", "Sequence"}, {"pretokenizers", parts}};
}

/// Inserts the vocabulary as text: it is too large for an ordered_json, whose objects use linear search.
std::string with_vocabulary(const Ordered& file, const Tokens& tokens) {
  std::string text = file.dump(1);
  const std::string place = "\"VOCABULARY\"";
  return text.replace(text.rfind(place), place.size(), vocabulary_json(tokens)) + "\n";
}

}  // namespace

std::string bpe_to_json(const Tokens& tokens, const std::vector<std::string>& merges,
                        const BPEOptions& options) {
  Ordered file = file_with(tokens);
  file["normalizer"] = options.compose ? Ordered{{"type", "NFC"}} : Ordered();
  file["pre_tokenizer"] = pre_tokenizer(options);
  file["post_processor"] = nullptr;
  file["decoder"] = byte_level(false, true);
  file["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", options.whole_words},
                   {"merges", merges},
                   {"vocab", "VOCABULARY"}};
  return with_vocabulary(file, tokens);
}

std::string word_piece_to_json(const Tokens& tokens, const WordPieceOptions& options) {
  Ordered file = file_with(tokens);
  file["normalizer"] = {
      {"type", "BertNormalizer"},
      {"clean_text", options.clean},
      {"handle_chinese_chars", options.space_cjk},
      {"strip_accents", options.strip_accents ? Ordered(*options.strip_accents) : Ordered()},
      {"lowercase", options.lowercase}};
  file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  file["post_processor"] = nullptr;
  file["decoder"] = {{"type", "WordPiece"}, {"prefix", options.prefix}, {"cleanup", true}};
  file["model"] = {{"type", "WordPiece"},
                   {"unk_token", options.unknown},
                   {"continuing_subword_prefix", options.prefix},
                   {"max_input_chars_per_word", options.longest_word},
                   {"vocab", "VOCABULARY"}};
  return with_vocabulary(file, tokens);
}

}  // namespace gradus::text::detail
