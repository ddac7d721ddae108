// Reads tokenizer.json. Rejects unknown settings, because they would change the ids.

#include "gradus/core/io/printable.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/parts.h"

namespace gradus::text::detail {
namespace {

/// Whether a key is missing, null, false, 0 or "".
bool is_nothing(const Keys& keys, const char* key) {
  if (!keys.has(key)) return true;
  const Json& value = keys.at(key);
  return value == false || value == 0 || value == "";
}

void expect_nothing(const Keys& keys, std::initializer_list<const char*> names, const char* remedy = "") {
  for (const char* key : names)
    if (!is_nothing(keys, key))
      fail_with("{}: \"{}\" {} is not supported{}", keys.where(), key, Keys::shown(keys.at(key)), remedy);
}

void expect_type(const Keys& keys, std::initializer_list<const char*> known, const char* remedy = "") {
  const auto type = keys.need<std::string>("type");
  std::string list;
  for (const char* name : known) {
    if (type == name) return;
    list.append(list.empty() ? "" : ", ").append(name);
  }
  fail_with("{}: the type {} is not supported; expects {}{}", keys.where(), io::quote(type), list, remedy);
}

/// The parts of a Sequence, under `list`, or the object itself.
std::vector<Keys> sequence(const Keys& keys, const char* list) {
  if (keys.get<std::string>("type", "") != "Sequence") return {keys};
  check(keys.at(list).is_array(), "{}: \"{}\" is not a list", keys.where(), list);
  std::vector<Keys> parts;
  for (const Json& part : keys.at(list)) parts.emplace_back(part, keys.where() + "." + list);
  return parts;
}

std::string escaped(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string split_pattern(const Keys& split) {
  check(split.get<std::string>("behavior", "Isolated") == "Isolated" && is_nothing(split, "invert"),
        "{}: Split is only supported with the behavior \"Isolated\", not inverted", split.where());
  const Keys pattern = split.object("pattern");
  return pattern.has("Regex") ? pattern.need<std::string>("Regex")
                              : escaped(pattern.need<std::string>("String"));
}

void read_bpe_pre_tokenizer(const Keys& json, BPEOptions& options) {
  options.patterns.clear();
  bool byte_level = false;
  for (const Keys& part : sequence(json.object("pre_tokenizer"), "pretokenizers")) {
    expect_type(part, {"Split", "Digits", "ByteLevel"}, "; for Llama 2 add its tokenizer.model");
    const auto type = part.need<std::string>("type");
    check(!byte_level, "{}: nothing may follow ByteLevel", part.where());
    if (type == "Split") options.patterns.push_back(split_pattern(part));
    if (type == "Digits")
      options.patterns.push_back(part.get("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)");
    if (type != "ByteLevel") continue;
    byte_level = true;
    options.prefix_space = part.get("add_prefix_space", true);
    if (part.get("use_regex", true)) options.patterns.emplace_back(gpt2_pattern);
  }
  check(byte_level, "{}: the pre_tokenizer is not ByteLevel: this is not a byte-level BPE", json.where());
}

void read_bpe_normalizer(const Keys& json, BPEOptions& options) {
  if (!json.has("normalizer")) return;
  for (const Keys& part : sequence(json.object("normalizer"), "normalizers")) {
    expect_type(part, {"NFC"}, "; for Llama 2 add its tokenizer.model");
    options.compose = true;
  }
}

Merge read_merge(const Json& merge, std::size_t number, const std::string& where) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  const std::string text = merge.is_string() ? merge.get<std::string>() : "";
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos || blank == 0 || blank + 1 == text.size())
    fail_with("{}: merge {} is {}; expects \"a b\" or [\"a\", \"b\"]", where, number + 1, Keys::shown(merge));
  return {text.substr(0, blank), text.substr(blank + 1)};
}

std::vector<Merge> read_merges(const Keys& model) {
  const Json& list = model.at("merges");
  check(list.is_array(), "{}: \"merges\" is not a list", model.where());
  std::vector<Merge> merges;
  for (const Json& merge : list) merges.push_back(read_merge(merge, merges.size(), model.where()));
  return merges;
}

void read_added_tokens(const Keys& json, Tokens& tokens) {
  if (!json.has("added_tokens")) return;
  check(json.at("added_tokens").is_array(), "{}: \"added_tokens\" is not a list", json.where());
  for (const Json& entry : json.at("added_tokens")) {
    const Keys added(entry, json.where() + ".added_tokens");
    const auto token = added.need<std::string>("content");
    const auto id = added.need<std::int64_t>("id");
    expect_nothing(added, {"single_word"});
    const auto known = tokens.find(token);
    check(!known || *known == id, "{}: {} has id {}, but {} in the vocabulary", added.where(),
          io::quote(token), id, known.value_or(0));
    if (!known) tokens.add(token, id);
    tokens.mark(token, {.special = added.get("special", false),
                        .strip_before = added.get("lstrip", false),
                        .strip_after = added.get("rstrip", false)});
  }
}

}  // namespace

std::string model_type(const Json& json, const std::string& who) {
  const Keys model = Keys(json, who).object("model");
  if (!model.has("type") && model.has("merges")) return "BPE";
  return model.need<std::string>("type");
}

BPEParts bpe_from_json(const Json& json, const std::string& who) {
  const Keys file(json, who);
  const Keys model = file.object("model");
  check(model_type(json, who) == "BPE", "{}: \"type\" is {}; expects \"BPE\"", model.where(),
        io::quote(model_type(json, who)));
  expect_nothing(model, {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"},
                 "; for Llama 2 add its tokenizer.model");
  if (file.has("decoder"))
    for (const Keys& part : sequence(file.object("decoder"), "decoders")) expect_type(part, {"ByteLevel"});
  BPEParts parts{Tokens(who), {}, {}};
  read_bpe_normalizer(file, parts.options);
  read_bpe_pre_tokenizer(file, parts.options);
  parts.options.whole_words = model.get("ignore_merges", false);
  add_vocabulary(parts.tokens, model.at("vocab"));
  parts.merges = read_merges(model);
  read_added_tokens(file, parts.tokens);
  parts.tokens.name_special();
  return parts;
}

WordPieceParts word_piece_from_json(const Json& json, const std::string& who) {
  const Keys file(json, who);
  const Keys model = file.object("model");
  expect_type(model, {"WordPiece"});
  expect_type(file.object("pre_tokenizer"), {"BertPreTokenizer"});
  const Keys normalizer = file.object("normalizer");
  expect_type(normalizer, {"BertNormalizer"});
  WordPieceParts parts{Tokens(who), {}};
  WordPieceOptions& options = parts.options;
  options.lowercase = normalizer.get("lowercase", true);
  options.clean = normalizer.get("clean_text", true);
  options.space_cjk = normalizer.get("handle_chinese_chars", true);
  if (normalizer.has("strip_accents")) options.strip_accents = normalizer.need<bool>("strip_accents");
  options.unknown = model.get("unk_token", options.unknown);
  options.prefix = model.get("continuing_subword_prefix", options.prefix);
  options.longest_word = model.get("max_input_chars_per_word", options.longest_word);
  add_vocabulary(parts.tokens, model.at("vocab"));
  read_added_tokens(file, parts.tokens);
  parts.tokens.name_special();
  return parts;
}

}  // namespace gradus::text::detail
