#include "gradus/text/detail/learn_merges.h"

#include <algorithm>

namespace gradus::text::detail {

MergeLearner::MergeLearner(std::vector<CountedWord> words, std::int64_t min_frequency)
    : words_(std::move(words)), min_frequency_(std::max<std::int64_t>(min_frequency, 1)) {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const std::vector<Symbol>& symbols = words_[w].symbols;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
      change({symbols[i], symbols[i + 1]}, words_[w].count, static_cast<std::uint32_t>(w));
  }
  grown_.clear();
  std::vector<Candidate> all;
  for (const auto& [pair, known] : pairs_)
    if (known.count >= min_frequency_) all.push_back({known.count, pair});
  queue_ = std::priority_queue<Candidate>(std::less<Candidate>(), std::move(all));
}

void MergeLearner::change(const Pair& pair, std::int64_t by, std::uint32_t word) {
  Known& known = pairs_[pair];
  known.count += by;
  if (by < 0) return;
  if (known.words.empty() || known.words.back() != word) known.words.push_back(word);
  grown_.push_back(pair);
}

bool MergeLearner::next(Pair& pair) {
  while (!queue_.empty()) {
    Candidate top = queue_.top();
    queue_.pop();
    const auto at = pairs_.find(top.pair);
    const std::int64_t count = at == pairs_.end() ? 0 : at->second.count;
    if (count == top.count) {
      pair = top.pair;
      return true;
    }
    // It has become rarer since: when it becomes more frequent, it is queued again, and that comes first.
    if (count >= min_frequency_) queue_.push({count, top.pair});
  }
  return false;
}

void MergeLearner::merge(const Pair& pair, Symbol merged) {
  const auto at = pairs_.find(pair);
  if (at == pairs_.end()) return;
  const std::vector<std::uint32_t> words = std::move(at->second.words);
  grown_.clear();
  for (const std::uint32_t word : words) merge_in(word, pair, merged);
  pairs_.erase(pair);
  std::sort(grown_.begin(), grown_.end());
  grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
  for (const Pair& more : grown_) {
    const auto known = pairs_.find(more);
    if (known != pairs_.end() && known->second.count >= min_frequency_)
      queue_.push({known->second.count, more});
  }
}

/// Merges from left to right; removes the pairs with both neighbors and adds those of the new symbol.
void MergeLearner::merge_in(std::uint32_t word, const Pair& pair, Symbol merged) {
  std::vector<Symbol>& symbols = words_[word].symbols;
  const std::int64_t count = words_[word].count;
  std::size_t to = 0;
  for (std::size_t from = 0; from < symbols.size(); ++from, ++to) {
    if (from + 1 == symbols.size() || symbols[from] != pair[0] || symbols[from + 1] != pair[1]) {
      symbols[to] = symbols[from];
      continue;
    }
    if (to > 0) {
      change({symbols[to - 1], pair[0]}, -count, word);
      change({symbols[to - 1], merged}, count, word);
    }
    if (from + 2 < symbols.size()) {
      change({pair[1], symbols[from + 2]}, -count, word);
      change({merged, symbols[from + 2]}, count, word);
    }
    symbols[to] = merged;
    ++from;
  }
  symbols.resize(to);
}

}  // namespace gradus::text::detail
