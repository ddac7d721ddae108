#include "gradus/text/tokenizer.h"

#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/tokens.h"

namespace gradus::text {

Ids Tokenizer::encode(std::string_view text) const {
  Ids ids;
  tokens_->split(
      text, [&](std::string_view plain) { encode_plain(plain, ids); },
      [&](std::int64_t id) { ids.push_back(id); });
  return ids;
}

Ids Tokenizer::encode_ordinary(std::string_view text) const {
  Ids ids;
  if (!text.empty()) encode_plain(text, ids);
  return ids;
}

Encoding Tokenizer::encode_pair(std::string_view first, std::optional<std::string_view> second,
                                std::int64_t max_length) const {
  const auto [cls, sep] = std::pair{special().cls, special().sep};
  for (const auto& [id, name] : {std::pair{cls, "[CLS]"}, std::pair{sep, "[SEP]"}})
    // RoBERTa has other tokens for these roles, and combines texts differently.
    check(id && token(*id) == name, "Tokenizer::encode_pair: {} has no {}; expects BERT's [CLS] and [SEP]",
          tokens_->who(), name);
  const std::int64_t around = second ? 3 : 2;
  check(max_length == 0 || max_length >= around,
        "Tokenizer::encode_pair: expects max_length of at least {}, got {}", around, max_length);
  Ids a = encode(first), b = second ? encode(*second) : Ids();
  const auto size = [&] { return static_cast<std::int64_t>(a.size() + b.size()) + around; };
  while (max_length != 0 && size() > max_length) (a.size() > b.size() ? a : b).pop_back();

  Encoding made{{*cls}, {}};
  made.ids.insert(made.ids.end(), a.begin(), a.end());
  made.ids.push_back(*sep);
  made.token_types.assign(made.ids.size(), 0);
  if (second) {
    made.ids.insert(made.ids.end(), b.begin(), b.end());
    made.ids.push_back(*sep);
    made.token_types.resize(made.ids.size(), 1);
  }
  return made;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, const DecodeOptions& options) const {
  Ids kept;
  kept.reserve(ids.size());
  for (const std::int64_t id : ids) {
    tokens_->token(id, "Tokenizer::decode");
    if (!options.skip_special || !is_special(id)) kept.push_back(id);
  }
  return join(kept);
}

std::string Tokenizer::decode(const Tensor& ids, const DecodeOptions& options) const {
  check(ids.defined(), "Tokenizer::decode: ids is an undefined tensor: give it a value first");
  check(ids.dim() == 1 && ids.dtype() == i64,
        "Tokenizer::decode: expects ids i64 [N], got {} {}; a row of a batch is ids[0]", name(ids.dtype()),
        to_string(ids.shape()));
  return decode(ids.to_vector<std::int64_t>(), options);
}

std::int64_t Tokenizer::vocab_size() const { return tokens_->size(); }
std::string Tokenizer::token(std::int64_t id) const { return tokens_->token(id, "Tokenizer::token"); }
std::optional<std::int64_t> Tokenizer::find(std::string_view token) const { return tokens_->find(token); }
SpecialIds Tokenizer::special() const { return tokens_->special(); }

std::int64_t Tokenizer::id(std::string_view token) const {
  const auto found = find(token);
  check(found.has_value(), "Tokenizer::id: {} is not among the tokens of {}", io::quote(std::string(token)),
        tokens_->who());
  return *found;
}

bool Tokenizer::is_special(std::int64_t id) const {
  const detail::Added* added = tokens_->added(id);
  return added != nullptr && added->special;
}

}  // namespace gradus::text
