#include "gradus/text/word_piece.h"

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/basic_tokenizer.h"
#include "gradus/text/detail/parts.h"
#include "gradus/text/detail/replace.h"
#include "gradus/text/detail/unicode.h"
#include "gradus/text/detail/word_cache.h"

namespace gradus::text {
namespace {

using detail::replace_all, detail::Tokens;

detail::WordPieceParts parts_of(const std::vector<std::string>& tokens, const WordPieceOptions& options) {
  detail::WordPieceParts parts{Tokens("WordPiece"), options};
  for (std::size_t i = 0; i < tokens.size(); ++i) parts.tokens.add(tokens[i], static_cast<std::int64_t>(i));
  for (const std::string& token : options.special_tokens)
    if (parts.tokens.find(token)) parts.tokens.mark(token);
  parts.tokens.name_special();
  return parts;
}

/// Hugging Face's clean_up_tokenization: removes spaces that English does not have.
void close_spaces(std::string& text) {
  for (const std::string_view mark : {".", "?", "!", ","}) replace_all(text, " " + std::string(mark), mark);
  replace_all(text, " ' ", "'");
  for (const std::string_view end : {"n't", "'m", "'s", "'ve", "'re"})
    replace_all(text, " " + std::string(end), end);
}

}  // namespace

/// The mutable state of encoding, for one thread.
struct WordPiece::Encoder {
  detail::BasicTokenizer words;
  detail::WordCache cache;
};

struct WordPiece::Tables {
  explicit Tables(detail::WordPieceParts parts)
      : tokens(std::make_shared<const Tokens>(std::move(parts.tokens))), options(std::move(parts.options)) {
    const std::string& prefix = options.prefix;
    const auto found = tokens->find(options.unknown);
    check(found.has_value(), "{}: the vocabulary has no {}, the token for unknown words: is it complete?",
          tokens->who(), io::quote(options.unknown));
    check(!prefix.empty(), "{}: expects a prefix for pieces that continue a word, such as \"##\"",
          tokens->who());
    check(options.longest_word >= 1, "{}: expects longest_word of at least 1, got {}", tokens->who(),
          options.longest_word);
    unknown = static_cast<std::int32_t>(*found);
    for (const auto& [token, id] : tokens->ids()) {
      const std::string_view text = token;
      const bool goes_on = text.size() > prefix.size() && text.starts_with(prefix);
      (goes_on ? inner : first)
          .try_emplace(std::string(text.substr(goes_on ? prefix.size() : 0)), static_cast<std::int32_t>(id));
      longest = std::max(longest, text.size());
    }
  }

  /// Takes the longest piece, then the longest piece of the rest; if none fits, the whole word is unknown.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    const bool fits = word.size() <= static_cast<std::size_t>(options.longest_word) ||
                      detail::count_characters(word) <= static_cast<std::size_t>(options.longest_word);
    for (std::size_t at = 0; fits && at < word.size();) {
      const auto& pieces = at == 0 ? first : inner;
      std::size_t size = std::min(longest, word.size() - at);
      auto found = pieces.end();
      for (; size > 0 && found == pieces.end(); --size)
        if (at + size == word.size() || (static_cast<unsigned char>(word[at + size]) & 0xC0) != 0x80)
          found = pieces.find(word.substr(at, size));
      if (found == pieces.end()) {
        ids.clear();
        break;
      }
      ids.push_back(found->second);
      at += size + 1;
    }
    if (ids.empty()) ids.push_back(unknown);
  }

  std::shared_ptr<const Tokens> tokens;
  WordPieceOptions options;
  detail::StringMap<std::int32_t> first, inner;  // without their prefix
  std::size_t longest = 0;                       // bytes of a token
  std::int32_t unknown = 0;
  mutable detail::Shared<Encoder> encoder;
};

WordPiece::WordPiece(std::shared_ptr<const Tables> tables)
    : Tokenizer(tables->tokens), tables_(std::move(tables)) {}
WordPiece::WordPiece(detail::WordPieceParts parts)
    : WordPiece(std::make_shared<const Tables>(std::move(parts))) {}
WordPiece::WordPiece(const std::vector<std::string>& tokens, const WordPieceOptions& options)
    : WordPiece(parts_of(tokens, options)) {}

WordPiece WordPiece::load(const std::filesystem::path& folder) {
  return WordPiece(detail::read_word_piece(folder));
}
WordPiece WordPiece::load(const std::filesystem::path& vocab, const WordPieceOptions& options) {
  return WordPiece(detail::read_word_piece(vocab, options));
}

void WordPiece::encode_plain(std::string_view text, Ids& out) const {
  tables_->encoder.use(
      [&] {
        return Encoder{detail::BasicTokenizer(tables_->options), {}};
      },
      [&](Encoder& encoder) {
        encoder.words.split(text, [&](std::string_view word) {
          encoder.cache.append(word, out,
                               [&](std::string_view piece, auto& ids) { tables_->encode_word(piece, ids); });
        });
      });
}

std::string WordPiece::bytes(std::int64_t id) const {
  const std::string& token = tokens_->token(id, "WordPiece::bytes");
  const std::string& prefix = tables_->options.prefix;
  return token.starts_with(prefix) && token.size() > prefix.size() ? token.substr(prefix.size())
                                                                   : " " + token;
}

std::string WordPiece::join(std::span<const std::int64_t> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) text += i == 0 ? token(ids[i]) : bytes(ids[i]);
  close_spaces(text);
  return text;
}

void WordPiece::save(const std::filesystem::path& folder) const {
  const char* who = "WordPiece::save";
  std::string lines;
  for (std::int64_t id = 0; id < vocab_size(); ++id) {
    const std::string& written = token(id);
    check(written.find('\n') == std::string::npos,
          "{}: token {} has a line break, and vocab.txt has a token in each line", who, io::quote(written));
    lines += written + "\n";
  }
  const WordPieceOptions& options = tables_->options;
  io::make_folder(who, folder.string());
  detail::write_file(who, folder / "vocab.txt", lines);
  detail::write_file(who, folder / "special_tokens_map.json", detail::special_tokens_map(*tokens_));
  detail::write_file(who, folder / "tokenizer_config.json", detail::word_piece_config(options));
  detail::write_file(who, folder / "tokenizer.json", detail::word_piece_to_json(*tokens_, options));
}

}  // namespace gradus::text
