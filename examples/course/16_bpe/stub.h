#include "learn/learn.h"

// Byte-pair encoding: the choice of a merge, the merge, encoding and decoding. About 25 lines.
//
//   using Ids = std::vector<std::int64_t>;
//   using Pair = std::pair<std::int64_t, std::int64_t>;
//   given in examples/course/16_bpe/given.h
//
// Tokens 0 to 255 are the bytes. Merges are a list of pairs in the order of training: number k, counted from
// 0, makes token 256 + k.
//
//   next_pair:  which pair does training merge next? Words are lists of tokens; a word that occurs five times
//               is in the list five times. A pair is counted at every place where it occurs, even if two such
//               places share a token. Of equally frequent pairs it is the one whose first token is smaller, and
//               of those the one whose second token is smaller.
//   merge:      what becomes of a word when a pair is replaced by a token, from left to right?
//   encode:     which tokens does training leave of this word?
//   decode:     which bytes do these tokens stand for?
//
// Useful: std::map<Pair, int>, which is sorted; unsigned char for a byte of a std::string.

/// At least one word has two tokens or more.
Pair next_pair(const std::vector<Ids>& words) { return todo(words); }

Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) { return todo(ids, pair, token); }

Ids encode(const std::string& word, const std::vector<Pair>& merges) { return todo(word, merges); }

std::string decode(const Ids& ids, const std::vector<Pair>& merges) { return todo(ids, merges); }
