template <class Counts>
Pair most_frequent(const Counts& counts) {
  Pair best;
  int most = 0;
  for (const auto& [pair, count] : counts)
    if (count > most) best = pair, most = count;
  return best;
}

namespace by_rank {  // a correct answer: the earliest merge that applies, until none does
using solution::decode;
using solution::merge;
using solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids;
  for (const unsigned char byte : word) ids.push_back(byte);
  for (;;) {
    std::size_t first = merges.size();
    for (std::size_t i = 1; i < ids.size(); ++i)
      for (std::size_t k = 0; k < first; ++k)
        if (merges[k] == Pair(ids[i - 1], ids[i])) first = k;
    if (first == merges.size()) return ids;
    ids = merge(ids, merges[first], static_cast<std::int64_t>(256 + first));
  }
}
}  // namespace by_rank
MUTANT(by_rank)

namespace once_per_word {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::map<Pair, int> counts;
  for (const Ids& ids : words) {
    std::map<Pair, int> here;
    for (std::size_t i = 1; i < ids.size(); ++i) here[{ids[i - 1], ids[i]}] = 1;
    for (const auto& [pair, one] : here) counts[pair] += one;
  }
  return most_frequent(counts);
}
}  // namespace once_per_word
MUTANT(once_per_word, "a pair counts once at every place", "places that share a token count")

namespace each_word_once {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::map<Ids, int> different;
  for (const Ids& ids : words) different[ids] = 1;
  std::map<Pair, int> counts;
  for (const auto& [ids, one] : different)
    for (std::size_t i = 1; i < ids.size(); ++i) counts[{ids[i - 1], ids[i]}] += one;
  return most_frequent(counts);
}
}  // namespace each_word_once
MUTANT(each_word_once, "a word counts as often as it occurs")

namespace counted_without_overlap {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::map<Pair, int> counts;
  for (const Ids& ids : words)
    for (std::size_t i = 1; i < ids.size(); ++i) {
      ++counts[{ids[i - 1], ids[i]}];
      if (i + 1 < ids.size() && ids[i - 1] == ids[i] && ids[i] == ids[i + 1]) ++i;
    }
  return most_frequent(counts);
}
}  // namespace counted_without_overlap
MUTANT(counted_without_overlap, "places that share a token count")

namespace across_words {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  Ids all;
  for (const Ids& ids : words) all.insert(all.end(), ids.begin(), ids.end());
  return solution::next_pair({all});
}
}  // namespace across_words
MUTANT(across_words, "a pair lies inside a word")

namespace larger_wins {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::map<Pair, int, std::greater<Pair>> counts;
  for (const Ids& ids : words)
    for (std::size_t i = 1; i < ids.size(); ++i) ++counts[{ids[i - 1], ids[i]}];
  return most_frequent(counts);
}
}  // namespace larger_wins
MUTANT(larger_wins, "a tie goes to the smaller first token",
       "a tie of first tokens goes to the smaller second one")

namespace first_seen_wins {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::vector<std::pair<Pair, int>> counts;
  for (const Ids& ids : words)
    for (std::size_t i = 1; i < ids.size(); ++i) {
      const Pair pair(ids[i - 1], ids[i]);
      std::size_t at = 0;
      while (at < counts.size() && counts[at].first != pair) ++at;
      if (at == counts.size()) counts.push_back({pair, 0});
      ++counts[at].second;
    }
  return most_frequent(counts);
}
}  // namespace first_seen_wins
MUTANT(first_seen_wins, "a tie goes to the smaller first token",
       "a tie of first tokens goes to the smaller second one")

namespace second_token_decides {
using solution::decode;
using solution::encode;
using solution::merge;
Pair next_pair(const std::vector<Ids>& words) {
  std::vector<Ids> reversed = words;
  for (Ids& ids : reversed) std::reverse(ids.begin(), ids.end());
  const Pair best = solution::next_pair(reversed);
  return {best.second, best.first};
}
}  // namespace second_token_decides
MUTANT(second_token_decides, "a tie goes to the smaller first token")

namespace overlapping {
using solution::decode;
using solution::encode;
using solution::next_pair;
Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  Ids out;
  bool before = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == pair;
    if (here || !before) out.push_back(here ? token : ids[i]);
    before = here;
  }
  return out;
}
}  // namespace overlapping
MUTANT(overlapping, "a token is merged only once", "merging goes from left to right")

namespace from_the_right {
using solution::decode;
using solution::encode;
using solution::next_pair;
Ids merge(Ids const& ids, const Pair& pair, std::int64_t token) {
  Ids reversed(ids.rbegin(), ids.rend());
  reversed = solution::merge(reversed, {pair.second, pair.first}, token);
  return {reversed.rbegin(), reversed.rend()};
}
}  // namespace from_the_right
MUTANT(from_the_right, "merging goes from left to right")

namespace only_the_first {
using solution::decode;
using solution::encode;
using solution::next_pair;
Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  Ids out = ids;
  for (std::size_t i = 1; i < out.size(); ++i)
    if (Pair(out[i - 1], out[i]) == pair) {
      out[i - 1] = token;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  return out;
}
}  // namespace only_the_first
MUTANT(only_the_first, "every occurrence of a pair is replaced", "a token is merged only once")

namespace without_the_last {
using solution::decode;
using solution::encode;
using solution::next_pair;
Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  Ids out;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    const bool here = Pair(ids[i], ids[i + 1]) == pair;
    out.push_back(here ? token : ids[i]);
    i += here;
  }
  return out;
}
}  // namespace without_the_last
MUTANT(without_the_last, "every occurrence of a pair is replaced", "the tokens of a pair have an order",
       "merging goes from left to right")

namespace in_any_order {
using solution::decode;
using solution::encode;
using solution::next_pair;
Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  const Ids once = solution::merge(ids, pair, token);
  return solution::merge(once, {pair.second, pair.first}, token);
}
}  // namespace in_any_order
MUTANT(in_any_order, "the tokens of a pair have an order")

namespace longest_match {
using solution::decode;
using solution::merge;
using solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids;
  for (std::size_t at = 0; at < word.size();) {
    Ids best{static_cast<unsigned char>(word[at])};
    std::size_t size = 1;
    for (std::size_t k = 0; k < merges.size(); ++k) {
      const std::string token = decode({static_cast<std::int64_t>(256 + k)}, merges);
      if (token.size() > size && word.compare(at, token.size(), token) == 0)
        best[0] = static_cast<std::int64_t>(256 + k), size = token.size();
    }
    ids.push_back(best[0]);
    at += size;
  }
  return ids;
}
}  // namespace longest_match
MUTANT(longest_match, "the longest token need not win", "the order of training decides, not frequency")

namespace leftmost_first {
using solution::decode;
using solution::merge;
using solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids = solution::encode(word, {});
  for (std::size_t i = 1; i < ids.size(); ++i)
    for (std::size_t k = 0; k < merges.size(); ++k)
      if (merges[k] == Pair(ids[i - 1], ids[i])) {
        ids[i - 1] = static_cast<std::int64_t>(256 + k);
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
        break;
      }
  return ids;
}
}  // namespace leftmost_first
MUTANT(leftmost_first, "the longest token need not win", "the order of training decides, not the place",
       "the order of training decides, not frequency")

namespace trained_on_the_word {
using solution::decode;
using solution::merge;
using solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids = solution::encode(word, {});
  for (;;) {
    std::vector<int> counts(merges.size());
    for (std::size_t i = 1; i < ids.size(); ++i)
      for (std::size_t k = 0; k < merges.size(); ++k) counts[k] += merges[k] == Pair(ids[i - 1], ids[i]);
    const auto most = std::max_element(counts.begin(), counts.end());
    if (most == counts.end() || *most == 0) return ids;
    const std::ptrdiff_t k = most - counts.begin();
    ids = merge(ids, merges[static_cast<std::size_t>(k)], 256 + k);
  }
}
}  // namespace trained_on_the_word
MUTANT(trained_on_the_word, "the order of training decides, not frequency")

namespace signed_bytes {
using solution::decode;
using solution::merge;
using solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids;
  for (const char byte : word) ids.push_back(static_cast<signed char>(byte));
  std::int64_t token = 256;
  for (const Pair& pair : merges) ids = merge(ids, pair, token++);
  return ids;
}
}  // namespace signed_bytes
MUTANT(signed_bytes, "a word begins as its bytes")

namespace bytes_as_code_points {
using solution::encode;
using solution::merge;
using solution::next_pair;
std::string decode(const Ids& ids, const std::vector<Pair>& merges) {
  std::string text;
  for (const unsigned char byte : solution::decode(ids, merges)) {
    if (byte >= 128) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte >= 128 ? 0x80 | (byte & 0x3F) : byte);
  }
  return text;
}
}  // namespace bytes_as_code_points
MUTANT(bytes_as_code_points, "decoding is the inverse", "a token may be a part of a character")

namespace spaces_between {
using solution::encode;
using solution::merge;
using solution::next_pair;
std::string decode(const Ids& ids, const std::vector<Pair>& merges) {
  std::string text;
  for (const std::int64_t id : ids) text += (text.empty() ? "" : " ") + solution::decode({id}, merges);
  return text;
}
}  // namespace spaces_between
MUTANT(spaces_between, "decoding is the inverse", "merges consist of merges")

namespace one_level {
using solution::encode;
using solution::merge;
using solution::next_pair;
std::string decode(const Ids& ids, const std::vector<Pair>& merges) {
  std::string text;
  for (const std::int64_t id : ids) {
    if (id < 256) text += static_cast<char>(id);
    if (id < 256) continue;
    const Pair& pair = merges[static_cast<std::size_t>(id - 256)];
    text += static_cast<char>(pair.first), text += static_cast<char>(pair.second);
  }
  return text;
}
}  // namespace one_level
MUTANT(one_level, "merges consist of merges")

namespace whole_characters_only {
using solution::encode;
using solution::merge;
using solution::next_pair;
std::string decode(const Ids& ids, const std::vector<Pair>& merges) {
  std::string text = solution::decode(ids, merges);
  std::size_t end = text.size();
  while (end > 0 && (text[end - 1] & 0xC0) == 0x80) --end;
  if (end > 0 && (text[end - 1] & 0x80) != 0 && end == text.size())
    text.resize(end - 1);  // a first byte alone
  return text;
}
}  // namespace whole_characters_only
MUTANT(whole_characters_only, "a token may be a part of a character")

namespace up_to_a_byte_0 {
using solution::decode, solution::merge, solution::next_pair;
Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  return solution::encode(word.c_str(), merges);
}
}  // namespace up_to_a_byte_0
MUTANT(up_to_a_byte_0, "a word begins as its bytes")
