#pragma once
// The tokens of a tokenizer, and the added tokens among them, which are recognized in text by their spelling.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gradus/text/tokenizer.h"

namespace gradus::text::detail {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

/// A token that is recognized in text before any other processing.
struct Added {
  std::int64_t id = 0;
  bool special = true;                             // decode may skip it
  bool strip_before = false, strip_after = false;  // removes the white space before and after it
};

class Tokens {
 public:
  /// `who` begins every message: "ByteLevelBPE: vocab.json".
  explicit Tokens(std::string who) : who_(std::move(who)) {}

  /// Throws when the token is empty, not UTF-8 or already added, or the id is negative, taken or too large.
  void add(std::string token, std::int64_t id);
  /// Makes a token an added token; gives it the next id if it has none.
  void mark(const std::string& token, Added how = {});
  /// Finds bos, eos, ... by their usual names; `roles` ("eos" -> "<|end|>") have precedence.
  void name_special(const std::map<std::string, std::string>& roles = {});

  const std::string& who() const { return who_; }
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  bool has(std::int64_t id) const {
    return id >= 0 && id < size() && !tokens_[static_cast<std::size_t>(id)].empty();
  }
  /// Throws, naming `op`, if there is none.
  const std::string& token(std::int64_t id, const char* op) const;
  std::optional<std::int64_t> find(std::string_view token) const;
  const SpecialIds& special() const { return special_; }
  SpecialIds& special() { return special_; }
  const Added* added(std::int64_t id) const;
  const std::vector<Added>& all_added() const { return added_; }
  const StringMap<std::int64_t>& ids() const { return ids_; }

  /// Splits a text at added tokens, the longest at each position: calls plain(piece) or found(id), in order.
  template <class Plain, class Found>
  void split(std::string_view text, const Plain& plain, const Found& found) const {
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
      const Added* token =
          first_byte_[static_cast<unsigned char>(text[at])] ? match(text.substr(at)) : nullptr;
      if (token == nullptr) {
        ++at;
        continue;
      }
      std::string_view before = text.substr(done, at - done);
      if (token->strip_before) before = before.substr(0, before.find_last_not_of(kBlanks) + 1);
      if (!before.empty()) plain(before);
      found(token->id);
      at += tokens_[static_cast<std::size_t>(token->id)].size();
      if (token->strip_after) at = std::min(text.find_first_not_of(kBlanks, at), text.size());
      done = at;
    }
    if (done < text.size()) plain(text.substr(done));
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n";
  const Added* match(std::string_view text) const;

  std::string who_;
  std::vector<std::string> tokens_;  // by id; empty where there is none
  StringMap<std::int64_t> ids_;
  std::vector<Added> added_;
  StringMap<std::size_t> added_at_;
  std::map<std::size_t, int, std::greater<>> lengths_;  // of the added tokens, longest first
  std::array<bool, 256> first_byte_{};
  SpecialIds special_;
};

}  // namespace gradus::text::detail
