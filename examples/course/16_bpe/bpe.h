#pragma once
// Byte-pair encoding from scratch. Its chapter: docs/course/16_bpe/README.md

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace small {

using Ids = std::vector<std::int64_t>;
using Pair = std::pair<std::int64_t, std::int64_t>;

/// Cuts a text before every space. No merge crosses a cut.
inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (; !text.empty(); text.remove_prefix(words.back().size()))
    words.emplace_back(text.substr(0, text.find(' ', 1)));
  return words;
}

/// GPT-2's order of the 256 bytes: first those that are printable in Latin-1, without the space.
inline std::vector<std::string> all_bytes() {
  std::vector<std::string> bytes;
  for (const bool printable : {true, false})
    for (int b = 0; b < 256; ++b)
      if (((b > 32 && b < 127) || (b > 160 && b != 173)) == printable)
        bytes.emplace_back(1, static_cast<char>(b));
  return bytes;
}

// [merge]
/// Replaces a pair of adjacent tokens by one token, from left to right.
inline Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == pair;
    out.push_back(here ? token : ids[i]);
    i += here;
  }
  return out;
}
// [/merge]

struct Bpe {
  std::vector<std::string> tokens = all_bytes();  // the bytes of each token, by id
  std::map<Pair, std::int64_t> merges;            // the token of a pair; an earlier merge has a smaller id

  Ids ids_of_bytes(const std::string& word) const {
    Ids ids;
    for (const char byte : word)
      ids.push_back(std::find(tokens.begin(), tokens.end(), std::string(1, byte)) - tokens.begin());
    return ids;
  }

  // [train]
  Bpe(std::string_view text, std::size_t vocab) {
    std::map<std::string, std::int64_t> times;
    for (const std::string& word : words_of(text)) ++times[word];
    std::vector<std::pair<Ids, std::int64_t>> words;
    for (const auto& [word, n] : times) words.emplace_back(ids_of_bytes(word), n);
    while (tokens.size() < vocab) {
      std::map<Pair, std::int64_t> counts;
      for (const auto& [ids, n] : words)
        for (std::size_t i = 1; i < ids.size(); ++i) counts[{ids[i - 1], ids[i]}] += n;
      // The first of the largest, and the map is sorted: of equal pairs, the one with the smaller ids.
      const auto best = std::max_element(counts.begin(), counts.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (best == counts.end() || best->second < 2) return;
      const auto [left, right] = best->first;
      const std::int64_t token = merges[best->first] = static_cast<std::int64_t>(tokens.size());
      tokens.push_back(tokens[static_cast<std::size_t>(left)] + tokens[static_cast<std::size_t>(right)]);
      for (auto& [ids, n] : words) ids = merge(ids, best->first, token);
    }
  }
  // [/train]

  // [encode]
  Ids encode_word(const std::string& word) const {
    for (Ids ids = ids_of_bytes(word);;) {
      auto first = merges.end();  // the earliest of the merges that apply
      for (std::size_t i = 1; i < ids.size(); ++i) {
        const auto at = merges.find({ids[i - 1], ids[i]});
        if (at != merges.end() && (first == merges.end() || at->second < first->second)) first = at;
      }
      if (first == merges.end()) return ids;
      ids = merge(ids, first->first, first->second);
    }
  }
  // [/encode]

  Ids encode(std::string_view text) const {
    Ids all;
    for (const std::string& word : words_of(text))
      for (const std::int64_t id : encode_word(word)) all.push_back(id);
    return all;
  }

  /// The bytes of the tokens, joined; for showing tokens, with something between them.
  std::string decode(const Ids& ids, const std::string& between = "") const {
    std::string text;
    for (const std::int64_t id : ids)
      text += (text.empty() ? "" : between) + tokens[static_cast<std::size_t>(id)];
    return text;
  }
};

// [longest]
/// Not BPE: takes the longest token with which the rest of the word begins.
inline Ids longest_match(const Bpe& bpe, std::string_view word) {
  Ids ids;
  while (!word.empty()) {
    const auto fits = [&](const std::string& token) { return word.starts_with(token) ? token.size() : 0; };
    const auto longest = std::max_element(bpe.tokens.begin(), bpe.tokens.end(),
                                          [&](const auto& a, const auto& b) { return fits(a) < fits(b); });
    ids.push_back(longest - bpe.tokens.begin());
    word.remove_prefix(longest->size());
  }
  return ids;
}
// [/longest]

}  // namespace small
