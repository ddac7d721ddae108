#include "gradus/text/detail/tokens.h"

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/unicode.h"

namespace gradus::text::detail {
namespace {

constexpr std::int64_t kLargestId = (std::int64_t{1} << 20) - 1;  // most vocabularies end at 2^18

struct Role {
  const char* name;
  std::optional<std::int64_t> SpecialIds::*place;
  const char* tokens[5];  // the first that the vocabulary has; null behind the last
};

constexpr Role roles[] = {
    {"bos", &SpecialIds::bos, {"<s>", "<bos>", "<|begin_of_text|>", "[BOS]", "<|endoftext|>"}},
    {"eos", &SpecialIds::eos, {"</s>", "<eos>", "<|end_of_text|>", "[EOS]", "<|endoftext|>"}},
    {"pad", &SpecialIds::pad, {"<pad>", "[PAD]", "<|pad|>"}},
    {"unk", &SpecialIds::unk, {"<unk>", "[UNK]"}},
    {"cls", &SpecialIds::cls, {"[CLS]"}},
    {"sep", &SpecialIds::sep, {"[SEP]"}},
    {"mask", &SpecialIds::mask, {"[MASK]", "<mask>"}},
};

}  // namespace

void Tokens::add(std::string token, std::int64_t id) {
  if (token.empty() || !is_utf8(token))
    fail_with("{}: token {} of id {} is {}", who_, io::quote(token), id,
              token.empty() ? "empty" : "not UTF-8");
  if (id < 0 || id > kLargestId)
    fail_with("{}: token {} has id {}; expects one of 0..{}", who_, io::quote(token), id, kLargestId);
  if (has(id))
    fail_with("{}: tokens {} and {} have the same id {}", who_,
              io::quote(tokens_[static_cast<std::size_t>(id)]), io::quote(token), id);
  const auto [at, fresh] = ids_.try_emplace(token, id);
  if (!fresh) fail_with("{}: token {} appears twice, as {} and {}", who_, io::quote(token), at->second, id);
  if (id >= size()) tokens_.resize(static_cast<std::size_t>(id) + 1);
  tokens_[static_cast<std::size_t>(id)] = std::move(token);
}

void Tokens::mark(const std::string& token, Added how) {
  const auto known = find(token);
  if (!known) add(token, size());
  how.id = known.value_or(size() - 1);
  const auto [at, fresh] = added_at_.try_emplace(token, added_.size());
  if (!fresh) {
    added_[at->second] = how;
    return;
  }
  added_.push_back(how);
  ++lengths_[token.size()];
  first_byte_[static_cast<unsigned char>(token[0])] = true;
}

void Tokens::name_special(const std::map<std::string, std::string>& given) {
  for (const Role& role : roles) {
    auto& place = special_.*role.place;
    if (const auto at = given.find(role.name); at != given.end()) place = find(at->second);
    for (const char* name : role.tokens)
      if (name && !place) place = find(name);
  }
}

const std::string& Tokens::token(std::int64_t id, const char* op) const {
  check(id >= 0 && id < size(), "{}: id {} is outside 0..{}", op, id, size() - 1);
  check(has(id), "{}: no token has id {}: the ids of {} have gaps", op, id, who_);
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<std::int64_t> Tokens::find(std::string_view token) const {
  const auto at = ids_.find(token);
  return at == ids_.end() ? std::nullopt : std::optional(at->second);
}

const Added* Tokens::added(std::int64_t id) const {
  if (added_.empty() || !has(id)) return nullptr;
  const auto at = added_at_.find(tokens_[static_cast<std::size_t>(id)]);
  return at == added_at_.end() ? nullptr : &added_[at->second];
}

const Added* Tokens::match(std::string_view text) const {
  for (const auto& [length, count] : lengths_) {
    if (length > text.size()) continue;
    const auto at = added_at_.find(text.substr(0, length));
    if (at != added_at_.end()) return &added_[at->second];
  }
  return nullptr;
}

}  // namespace gradus::text::detail
