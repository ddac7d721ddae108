struct Answer {
  Pair (*next_pair)(const std::vector<Ids>& words);
  Ids (*merge)(const Ids& ids, const Pair& pair, std::int64_t token);
  Ids (*encode)(const std::string& word, const std::vector<Pair>& merges);
  std::string (*decode)(const Ids& ids, const std::vector<Pair>& merges);
};
#define ANSWER(FROM) \
  { FROM::next_pair, FROM::merge, FROM::encode, FROM::decode }

namespace {
std::string shown(const Ids& ids) {
  std::string all;
  for (const std::int64_t id : ids) all += (all.empty() ? "" : " ") + std::to_string(id);
  return all.empty() ? phrase("nothing") : all;
}
std::string shown(const std::string& bytes) {
  Ids ids;
  for (const unsigned char byte : bytes) ids.push_back(byte);
  return shown(ids);
}
template <class T>
void same(const std::string& what, const T& got, const T& want) {
  expect(got == want, phrase("{0} is {1}, not {2}", what, shown(got), shown(want)));
}
void same(const std::string& what, const Pair& got, const Pair& want) {
  same(what, Ids{got.first, got.second}, Ids{want.first, want.second});
}
/// As many different tokens, in ascending order, drawn from 0 to 299.
Ids some(std::int64_t count) {
  Ids ids = sort(rand({300}), -1).second.slice(0, 0, count).to_vector<std::int64_t>();
  std::sort(ids.begin(), ids.end());
  return ids;
}
/// Merges of letters: an, ban, ana.
const std::vector<Pair> kBanana = {{'a', 'n'}, {'b', 256}, {256, 'a'}};
}  // namespace

CASE("a pair counts once at every place", "A word may contain a pair several times.") {
  const Ids t = some(4);
  same(phrase("the pair of three places in one word, against one in two words,"),
       answer.next_pair({{t[2], t[3], t[2], t[3], t[2], t[3]}, {t[0], t[1]}, {t[0], t[1]}}), {t[2], t[3]});
}
CASE("a word counts as often as it occurs", "Equal words are not one word: each adds its pairs.") {
  const Ids t = some(5);
  same(phrase("the pair of a word that occurs three times, against one in two other words,"),
       answer.next_pair({{t[2], t[3]}, {t[2], t[3]}, {t[2], t[3]}, {t[0], t[1]}, {t[0], t[1], t[4]}}),
       {t[2], t[3]});
}
CASE("places that share a token count", "In 7 7 7 the pair 7 7 occurs twice.") {
  const Ids t = some(3);
  same(phrase("the pair of two words x x x, against one in three words,"),
       answer.next_pair({{t[2], t[2], t[2]}, {t[2], t[2], t[2]}, {t[0], t[1]}, {t[0], t[1]}, {t[0], t[1]}}),
       {t[2], t[2]});
}
CASE("a pair lies inside a word", "The last token of a word and the first one of the next are no pair.") {
  const Ids t = some(4);
  same(phrase("the pair of two words, among words of one token,"),
       answer.next_pair({{t[0]}, {t[1]}, {t[0]}, {t[1]}, {t[0]}, {t[1]}, {t[2], t[3]}, {t[2], t[3]}}),
       {t[2], t[3]});
}
CASE("a tie goes to the smaller first token", "Compare pairs as std::pair does: first tokens first.") {
  const Ids t = some(4);
  same(phrase("of two pairs in two words each, the next"),
       answer.next_pair({{t[1], t[2]}, {t[0], t[3]}, {t[1], t[2]}, {t[0], t[3]}}), {t[0], t[3]});
  same(phrase("of two pairs in two words each, the next"),
       answer.next_pair({{t[0], t[3]}, {t[1], t[2]}, {t[1], t[2]}, {t[0], t[3]}}), {t[0], t[3]});
}
CASE("a tie of first tokens goes to the smaller second one",
     "With equal first tokens the second ones decide.") {
  const Ids t = some(3);
  same(phrase("of two pairs with the same first token, the next"),
       answer.next_pair({{t[0], t[2]}, {t[0], t[1]}, {t[0], t[2]}, {t[0], t[1]}}), {t[0], t[1]});
}
CASE("every occurrence of a pair is replaced", "Go through the whole word, up to its last token.") {
  const Ids t = some(3);
  same(phrase("x y z x y with x y merged into 500"),
       answer.merge({t[0], t[1], t[2], t[0], t[1]}, {t[0], t[1]}, 500), {500, t[2], 500});
  same(phrase("x y z with x y merged into 500"), answer.merge({t[0], t[1], t[2]}, {t[0], t[1]}, 500),
       {500, t[2]});
}
CASE("the tokens of a pair have an order", "y x is not the pair x y.") {
  const Ids t = some(2);
  same(phrase("y x with x y merged into 500"), answer.merge({t[1], t[0]}, {t[0], t[1]}, 500), {t[1], t[0]});
}
CASE("a token is merged only once", "After a merge, go on behind both of its tokens.") {
  const std::int64_t x = some(1)[0];
  same(phrase("x x x x with x x merged into 500"), answer.merge({x, x, x, x}, {x, x}, 500), {500, 500});
}
CASE("merging goes from left to right", "Of two places that share a token, the left one is merged.") {
  const std::int64_t x = some(1)[0];
  same(phrase("x x x with x x merged into 500"), answer.merge({x, x, x}, {x, x}, 500), {500, x});
}
CASE("the longest token need not win", "Start from bytes, and apply merges as training did.") {
  same(phrase("\"ananas\" with the merges an, ban, ana"), answer.encode("ananas", kBanana), {256, 258, 's'});
}
CASE("the order of training decides, not the place", "Of all merges that apply, the earliest comes first.") {
  same(phrase("\"abc\" with the merges bc, ab, abc"),
       answer.encode("abc", {{'b', 'c'}, {'a', 'b'}, {'a', 256}}), {258});
}
CASE("the order of training decides, not frequency",
     "Counts belong to training. Encoding has only the list.") {
  same(phrase("\"bababa\" with the merges ab, ba"), answer.encode("bababa", {{'a', 'b'}, {'b', 'a'}}),
       {'b', 256, 256, 'a'});
}
CASE("a word begins as its bytes", "A char may be negative: take unsigned char.") {
  same(phrase("the letter \u00E9, without merges,"), answer.encode("\xC3\xA9", {}), {0xC3, 0xA9});
  same(phrase("the bytes 97 0 98, without merges,"), answer.encode(std::string("a\0b", 3), {}), {97, 0, 98});
}
CASE("decoding is the inverse", "A token stands for the bytes of its two parts, joined.") {
  Ids bytes = randint(0, 256, {300}).to_vector<std::int64_t>();
  bytes.push_back(46);  // no cut character at the end: that is another case
  const std::string word(bytes.begin(), bytes.end());
  expect(answer.decode(bytes, {}) == word, "of random bytes, without merges, the text is not these bytes");
  same(phrase("the text of an, s"), answer.decode({256, 's'}, kBanana), std::string("ans"));
}
CASE("merges consist of merges", "A part of a token may be a merge itself.") {
  same(phrase("the text of ban, ana"), answer.decode({257, 258}, kBanana), std::string("banana"));
}
CASE("a token may be a part of a character",
     "Return the bytes as they are: the next token may complete them.") {
  same(phrase("the text of a token that ends inside a letter"), answer.decode({256}, {{' ', 0xC3}}),
       std::string(" \xC3"));
}
