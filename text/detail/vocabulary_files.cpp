// Reads vocab.json and merges.txt, and vocab.txt.

#include "gradus/core/io/printable.h"
#include "gradus/text/detail/byte_letters.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/parts.h"

namespace gradus::text::detail {
namespace {

namespace fs = std::filesystem;

/// Published vocabularies contain a few tokens that no merge makes and that are not marked as special.
constexpr std::size_t kLeftOver = 16;

std::vector<Merge> read_merges(const fs::path& path) {
  const std::string who = "ByteLevelBPE";
  std::vector<Merge> merges;
  std::int64_t number = 0;
  for (const std::string& line : read_lines(who, path)) {
    ++number;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || blank == 0 || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != std::string::npos)
      fail_with("{}: {}, line {}: {} is not a merge; expects two tokens and a space between them", who,
                named(path), number, io::quote(line));
    merges.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  return merges;
}

bool looks_special(std::string_view token) {
  return token.size() > 2 &&
         ((token.front() == '<' && token.back() == '>') || (token.front() == '[' && token.back() == ']'));
}

/// Marks tokens such as "<...>" that no merge makes as special; throws if many others have no merge.
void account_for_all(BPEParts& parts, const fs::path& merges) {
  StringMap<bool> made;
  for (const unsigned char byte : bytes_in_order()) made.try_emplace(std::string(byte_letter(byte)));
  for (const auto& [left, right] : parts.merges) made.try_emplace(left + right);
  std::vector<std::int64_t> special, left_over;
  for (std::int64_t id = 0; id < parts.tokens.size(); ++id) {
    if (!parts.tokens.has(id) || parts.tokens.added(id) != nullptr) continue;
    const std::string& token = parts.tokens.token(id, "");
    if (!made.contains(token)) (looks_special(token) ? special : left_over).push_back(id);
  }
  check(left_over.size() <= kLeftOver,
        "{}: {} has no merge for {} of its tokens, such as {}: is it cut short?", parts.tokens.who(),
        named(merges), left_over.size(),
        left_over.empty() ? "" : io::quote(parts.tokens.token(left_over.front(), "")));
  for (const std::int64_t id : special) parts.tokens.mark(std::string(parts.tokens.token(id, "")));
}

BPEParts read_pair(const fs::path& vocab, const fs::path& merges, const BPEOptions& options) {
  BPEParts parts{Tokens("ByteLevelBPE: " + named(vocab)), {}, options};
  add_vocabulary(parts.tokens, read_json("ByteLevelBPE", vocab));
  parts.merges = read_merges(merges);
  for (const std::string& token : options.special_tokens) parts.tokens.mark(token);
  return parts;
}

}  // namespace

BPEParts read_bpe(const fs::path& vocab, const fs::path& merges, const BPEOptions& options) {
  BPEParts parts = read_pair(vocab, merges, options);
  account_for_all(parts, merges);
  parts.tokens.name_special();
  return parts;
}

BPEParts read_bpe(const fs::path& folder) {
  if (const auto path = folder / "tokenizer.json"; exists("ByteLevelBPE", path)) {
    const std::string who = "ByteLevelBPE: " + named(path);
    BPEParts parts = bpe_from_json(read_json("ByteLevelBPE", path), who);
    read_special_files(parts.tokens, folder);
    return parts;
  }
  for (const auto& [vocab, merges] : {std::pair("vocab.json", "merges.txt"), {"encoder.json", "vocab.bpe"}}) {
    if (!exists("ByteLevelBPE", folder / vocab)) continue;
    BPEOptions options;
    if (const auto path = folder / "tokenizer_config.json"; exists("ByteLevelBPE", path))
      options.prefix_space = Keys(read_json("ByteLevelBPE", path), "ByteLevelBPE: " + named(path))
                                 .get("add_prefix_space", false);
    BPEParts parts = read_pair(folder / vocab, folder / merges, options);
    read_special_files(parts.tokens, folder);
    account_for_all(parts, folder / merges);
    return parts;
  }
  fail_with("ByteLevelBPE: {} has none of tokenizer.json, vocab.json and encoder.json", named(folder));
}

WordPieceParts read_word_piece(const fs::path& vocab, const WordPieceOptions& options) {
  WordPieceParts parts{Tokens("WordPiece: " + named(vocab)), options};
  std::int64_t id = 0;
  for (std::string& line : read_lines("WordPiece", vocab)) parts.tokens.add(std::move(line), id++);
  check(id > 0, "WordPiece: {} is empty; expects a token in each line", named(vocab));
  for (const std::string& token : options.special_tokens)
    if (parts.tokens.find(token)) parts.tokens.mark(token);
  parts.tokens.name_special();
  return parts;
}

WordPieceParts read_word_piece(const fs::path& folder) {
  if (const auto path = folder / "tokenizer.json"; exists("WordPiece", path)) {
    const std::string who = "WordPiece: " + named(path);
    WordPieceParts parts = word_piece_from_json(read_json("WordPiece", path), who);
    read_special_files(parts.tokens, folder);
    return parts;
  }
  check(is_folder(folder), "WordPiece: {} is not a folder; nothing is downloaded", named(folder));
  check(exists("WordPiece", folder / "vocab.txt"), "WordPiece: {} has neither tokenizer.json nor vocab.txt",
        named(folder));
  WordPieceOptions options;
  if (const auto path = folder / "tokenizer_config.json"; exists("WordPiece", path)) {
    const Json json = read_json("WordPiece", path);
    const Keys config(json, "WordPiece: " + named(path));
    options.lowercase = config.get("do_lower_case", true);
    options.space_cjk = config.get("tokenize_chinese_chars", true);
    if (config.has("strip_accents")) options.strip_accents = config.need<bool>("strip_accents");
  }
  WordPieceParts parts = read_word_piece(folder / "vocab.txt", options);
  read_special_files(parts.tokens, folder);
  return parts;
}

std::string word_piece_config(const WordPieceOptions& options) {
  nlohmann::ordered_json config;
  config["tokenizer_class"] = "BertTokenizer";
  config["do_lower_case"] = options.lowercase;
  config["strip_accents"] = options.strip_accents ? Json(*options.strip_accents) : Json();
  config["tokenize_chinese_chars"] = options.space_cjk;
  return config.dump(2) + "\n";
}

}  // namespace gradus::text::detail
