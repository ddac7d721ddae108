#include "gradus/text/byte_level_bpe.h"

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/byte_letters.h"
#include "gradus/text/detail/cutter.h"
#include "gradus/text/detail/merges.h"
#include "gradus/text/detail/parts.h"
#include "gradus/text/detail/word_cache.h"

namespace gradus::text {
namespace {

using detail::Tokens;

detail::BPEParts parts_of(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
                          const BPEOptions& options) {
  detail::BPEParts parts{Tokens("ByteLevelBPE"), merges, options};
  for (std::size_t i = 0; i < tokens.size(); ++i) parts.tokens.add(tokens[i], static_cast<std::int64_t>(i));
  for (const std::string& token : options.special_tokens) parts.tokens.mark(token);
  parts.tokens.name_special();
  return parts;
}

std::array<std::int32_t, 256> ids_of_bytes(const Tokens& tokens) {
  std::array<std::int32_t, 256> ids{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::string letter(detail::byte_letter(static_cast<unsigned char>(byte)));
    const auto id = tokens.find(letter);
    check(id.has_value(),
          "{}: no token for byte 0x{:02X}, written {}; expects all 256 bytes: is this a byte-level BPE?",
          tokens.who(), byte, io::quote(letter));
    ids[byte] = static_cast<std::int32_t>(*id);
  }
  return ids;
}

std::int32_t id_in_merge(const Tokens& tokens, const std::string& token, const Merge& merge,
                         std::size_t number) {
  const auto id = tokens.find(token);
  if (!id)
    fail_with(
        "{}: merge {}, {} {}, needs the token {}, which is not in the vocabulary: do both belong to one "
        "model?",
        tokens.who(), number + 1, io::quote(merge.first), io::quote(merge.second), io::quote(token));
  return static_cast<std::int32_t>(*id);
}

detail::Merges merges_of(const Tokens& tokens, const std::vector<Merge>& merges) {
  detail::Merges made;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto id = [&](const std::string& token) { return id_in_merge(tokens, token, merges[i], i); };
    const std::int32_t left = id(merges[i].first), right = id(merges[i].second);
    made.add(left, right, id(merges[i].first + merges[i].second));
  }
  return made;
}

}  // namespace

/// The mutable state of encoding, for one thread.
struct ByteLevelBPE::Encoder {
  detail::Cutter cutter;
  detail::WordCache cache;
};

struct ByteLevelBPE::Tables {
  explicit Tables(detail::BPEParts parts)
      : tokens(std::make_shared<const Tokens>(std::move(parts.tokens))),
        options(std::move(parts.options)),
        byte_ids(ids_of_bytes(*tokens)),
        merges(merges_of(*tokens, parts.merges)) {
    check(!options.prefix_space || options.patterns == std::vector<std::string>{gpt2_pattern},
          "{}: prefix_space works only with GPT-2's pattern", tokens->who());
    for (const std::string& pattern : options.patterns) patterns.emplace_back(tokens->who(), pattern);
    for (std::int64_t id = 0; id < tokens->size(); ++id) {
      const std::string& token = tokens->has(id) ? tokens->token(id, "") : std::string();
      const auto decoded = tokens->added(id) != nullptr ? std::nullopt : detail::bytes_of_letters(token);
      bytes.push_back(decoded.value_or(token));
      if (options.whole_words && tokens->has(id) && tokens->added(id) == nullptr)
        words.try_emplace(bytes.back(), static_cast<std::int32_t>(id));
    }
  }

  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    if (options.whole_words) {
      const auto known = words.find(word);
      if (known != words.end()) return ids.push_back(known->second);
    }
    for (const char byte : word) ids.push_back(byte_ids[static_cast<unsigned char>(byte)]);
    merges.apply(ids);
  }

  void encode(Encoder& with, std::string_view text, Ids& out) const {
    with.cutter.split(text, [&](std::string_view word) {
      with.cache.append(word, out, [&](std::string_view piece, auto& ids) { encode_word(piece, ids); });
    });
  }

  std::shared_ptr<const Tokens> tokens;
  BPEOptions options;
  std::vector<detail::Pattern> patterns;
  std::array<std::int32_t, 256> byte_ids;
  detail::Merges merges;
  std::vector<std::string> bytes;         // by id
  detail::StringMap<std::int32_t> words;  // whole_words: ids by bytes
  mutable detail::Shared<Encoder> encoder;
};

ByteLevelBPE::ByteLevelBPE(std::shared_ptr<const Tables> tables)
    : Tokenizer(tables->tokens), tables_(std::move(tables)) {}
ByteLevelBPE::ByteLevelBPE(detail::BPEParts parts)
    : ByteLevelBPE(std::make_shared<const Tables>(std::move(parts))) {}
ByteLevelBPE::ByteLevelBPE(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
                           const BPEOptions& options)
    : ByteLevelBPE(parts_of(tokens, merges, options)) {}

ByteLevelBPE ByteLevelBPE::load(const std::filesystem::path& folder) {
  return ByteLevelBPE(detail::read_bpe(folder));
}
ByteLevelBPE ByteLevelBPE::load(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                                const BPEOptions& options) {
  return ByteLevelBPE(detail::read_bpe(vocab, merges, options));
}

void ByteLevelBPE::encode_plain(std::string_view text, Ids& out) const {
  std::string prefixed;
  if (tables_->options.prefix_space && !text.starts_with(' ')) {
    prefixed.append(" ").append(text);
    text = prefixed;
  }
  tables_->encoder.use(
      [&] {
        return Encoder{detail::Cutter(tables_->patterns, tables_->options.compose), {}};
      },
      [&](Encoder& encoder) { tables_->encode(encoder, text, out); });
}

std::string ByteLevelBPE::bytes(std::int64_t id) const {
  tokens_->token(id, "ByteLevelBPE::bytes");
  return tables_->bytes[static_cast<std::size_t>(id)];
}

std::string ByteLevelBPE::join(std::span<const std::int64_t> ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += tables_->bytes[static_cast<std::size_t>(id)];
  return text;
}

void ByteLevelBPE::save(const std::filesystem::path& folder) const {
  const char* who = "ByteLevelBPE::save";
  std::vector<std::string> merges;
  std::string lines = "#version: 0.2\n";
  for (const auto& [left, right] : tables_->merges.pairs()) {
    merges.push_back(token(left) + " " + token(right));
    lines += merges.back() + "\n";
  }
  io::make_folder(who, folder.string());
  detail::write_file(who, folder / "vocab.json", detail::vocabulary_json(*tokens_));
  detail::write_file(who, folder / "merges.txt", lines);
  detail::write_file(who, folder / "special_tokens_map.json", detail::special_tokens_map(*tokens_));
  detail::write_file(who, folder / "tokenizer.json", detail::bpe_to_json(*tokens_, merges, tables_->options));
}

}  // namespace gradus::text
