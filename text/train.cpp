#include "gradus/text/train.h"

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/basic_tokenizer.h"
#include "gradus/text/detail/byte_letters.h"
#include "gradus/text/detail/cutter.h"
#include "gradus/text/detail/learn_merges.h"
#include "gradus/text/detail/tokens.h"

namespace gradus::text {
namespace {

using detail::CountedWord, detail::MergeLearner, detail::StringMap, detail::Symbol;

/// A vocabulary under construction.
class Growing {
 public:
  Growing(const char* who, std::int64_t most, const std::vector<std::string>& special)
      : who_(who), most_(most) {
    for (const std::string& token : special) {
      check(!token.empty(), "{}: a special token is empty", who);
      check(!ids_.contains(token), "{}: the special token {} is given twice", who, io::quote(token));
      add(token);
    }
  }

  Symbol add(const std::string& token) {
    const auto [at, fresh] = ids_.try_emplace(token, static_cast<Symbol>(tokens_.size()));
    if (fresh) tokens_.push_back(token);
    return at->second;
  }
  Symbol id(std::string_view token) const { return ids_.find(token)->second; }
  const std::string& token(Symbol id) const { return tokens_[static_cast<std::size_t>(id)]; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  bool is_full() const { return static_cast<std::int64_t>(tokens_.size()) >= most_; }
  void expect_room(const char* what) const {
    check(static_cast<std::int64_t>(tokens_.size()) <= most_,
          "{}: expects a vocab of at least {}, for {}, got {}", who_, tokens_.size(), what, most_);
  }

 private:
  const char* who_;
  std::int64_t most_;
  std::vector<std::string> tokens_;
  StringMap<Symbol> ids_;
};

using Counts = StringMap<std::int64_t>;

void count(Counts& counts, std::string_view word) {
  const auto at = counts.find(word);
  if (at != counts.end())
    ++at->second;
  else
    counts.try_emplace(std::string(word), 1);
}

/// The `most` most frequent characters, sorted.
std::vector<std::string> alphabet_of(const Counts& words, std::int64_t most) {
  Counts counts;
  for (const auto& [word, times] : words)
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t bytes = detail::first_character(std::string_view(word).substr(at)).bytes;
      counts[word.substr(at, bytes)] += times;
      at += bytes;
    }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (static_cast<std::int64_t>(sorted.size()) > most) sorted.resize(static_cast<std::size_t>(most));
  std::vector<std::string> alphabet;
  for (const auto& [character, times] : sorted) alphabet.push_back(character);
  std::sort(alphabet.begin(), alphabet.end());
  return alphabet;
}

/// A word as symbols; empty if one of its characters is not in the alphabet.
std::vector<Symbol> pieces_of(std::string_view word, const Counts& alphabet, const std::string& prefix,
                              Growing& vocabulary) {
  std::vector<Symbol> symbols;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = detail::first_character(word.substr(at)).bytes;
    const std::string character(word.substr(at, bytes));
    if (!alphabet.contains(character)) return {};
    symbols.push_back(vocabulary.add(at == 0 ? character : prefix + character));
    at += bytes;
  }
  return symbols;
}

}  // namespace

ByteLevelBPE train_byte_level_bpe(std::span<const std::string> texts, const TrainBPEOptions& options) {
  const char* who = "train_byte_level_bpe";
  Growing vocabulary(who, options.vocab, options.special_tokens);
  for (const unsigned char byte : detail::bytes_in_order())
    vocabulary.add(std::string(detail::byte_letter(byte)));
  vocabulary.expect_room("the bytes and the special tokens");

  std::vector<detail::Pattern> patterns;
  for (const std::string& pattern : options.patterns) patterns.emplace_back(who, pattern);
  detail::Cutter cutter(patterns, /*compose=*/false);
  Counts counts;
  for (const std::string& text : texts)
    cutter.split(text, [&](std::string_view word) { count(counts, word); });
  std::vector<CountedWord> words;
  for (const auto& [bytes, times] : counts) {
    CountedWord& word = words.emplace_back(CountedWord{{}, times});
    for (const char byte : bytes)
      word.symbols.push_back(
          vocabulary.id(std::string(detail::byte_letter(static_cast<unsigned char>(byte)))));
  }

  MergeLearner learner(std::move(words), options.min_frequency);
  std::vector<Merge> merges;
  for (MergeLearner::Pair pair; !vocabulary.is_full() && learner.next(pair);) {
    merges.emplace_back(vocabulary.token(pair[0]), vocabulary.token(pair[1]));
    learner.merge(pair, vocabulary.add(merges.back().first + merges.back().second));
  }
  return ByteLevelBPE(vocabulary.tokens(), merges,
                      {.patterns = options.patterns, .special_tokens = options.special_tokens});
}

WordPiece train_word_piece(std::span<const std::string> texts, const TrainWordPieceOptions& options) {
  const std::string& prefix = options.options.prefix;
  Growing vocabulary("train_word_piece", options.vocab, options.options.special_tokens);
  check(options.alphabet >= 1, "train_word_piece: expects an alphabet of at least 1, got {}",
        options.alphabet);
  detail::BasicTokenizer cutter(options.options);
  Counts counts;
  for (const std::string& text : texts)
    cutter.split(text, [&](std::string_view word) { count(counts, word); });
  Counts alphabet;
  for (const std::string& character : alphabet_of(counts, options.alphabet)) {
    alphabet.try_emplace(character);
    vocabulary.add(character);
  }

  // A hash table has no defined order: sorted, the same texts give the same ids.
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<CountedWord> words;
  for (const auto& [word, times] : sorted)
    words.push_back({pieces_of(word, alphabet, prefix, vocabulary), times});
  vocabulary.expect_room("the special tokens and the alphabet");

  MergeLearner learner(std::move(words), options.min_frequency);
  for (MergeLearner::Pair pair; !vocabulary.is_full() && learner.next(pair);)
    learner.merge(
        pair, vocabulary.add(vocabulary.token(pair[0]) + vocabulary.token(pair[1]).substr(prefix.size())));
  return WordPiece(vocabulary.tokens(), options.options);
}

ByteLevelBPE train_byte_level_bpe(std::initializer_list<std::string> texts, const TrainBPEOptions& options) {
  return train_byte_level_bpe(std::span(texts.begin(), texts.size()), options);
}

WordPiece train_word_piece(std::initializer_list<std::string> texts, const TrainWordPieceOptions& options) {
  return train_word_piece(std::span(texts.begin(), texts.size()), options);
}

}  // namespace gradus::text
