#include "gradus/text/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "gradus/core/check.h"

namespace gradus::text {
namespace {

constexpr std::size_t kOrders = 4;
using Words = std::vector<std::string>;
using Ngrams = std::map<std::span<const std::string>, std::int64_t, decltype([](auto a, auto b) {
                          return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
                        })>;

Ngrams ngrams_of(const Words& words, std::size_t order) {
  Ngrams counts;
  for (std::size_t i = 0; i + order <= words.size(); ++i) ++counts[std::span(words).subspan(i, order)];
  return counts;
}

/// The number of n-grams that match a reference, each counted at most as often as in one of them.
std::int64_t matches_of(const Words& hypothesis, const std::vector<Words>& references, std::size_t order) {
  Ngrams most;
  for (const Words& reference : references)
    for (const auto& [ngram, times] : ngrams_of(reference, order)) most[ngram] = std::max(most[ngram], times);
  std::int64_t matches = 0;
  for (const auto& [ngram, times] : ngrams_of(hypothesis, order))
    if (const auto at = most.find(ngram); at != most.end()) matches += std::min(times, at->second);
  return matches;
}

/// The length of the reference that is nearest in length; of two equally near, the shorter.
std::int64_t closest_length(std::int64_t length, const std::vector<Words>& references) {
  std::int64_t best = -1;
  for (const Words& reference : references) {
    const auto size = static_cast<std::int64_t>(reference.size());
    const std::int64_t off = std::abs(size - length), best_off = std::abs(best - length);
    if (best < 0 || off < best_off || (off == best_off && size < best)) best = size;
  }
  return best;
}

void add_line(Bleu& sum, const Words& hypothesis, const std::vector<Words>& references) {
  const auto length = static_cast<std::int64_t>(hypothesis.size());
  sum.length += length;
  sum.reference_length += closest_length(length, references);
  for (std::size_t n = 1; n <= kOrders; ++n) {
    sum.ngrams[n - 1] += std::max<std::int64_t>(length - static_cast<std::int64_t>(n) + 1, 0);
    sum.matches[n - 1] += matches_of(hypothesis, references, n);
  }
}

void finish(Bleu& sum) {
  const double ratio =
      sum.length > 0 ? static_cast<double>(sum.reference_length) / static_cast<double>(sum.length) : 0;
  sum.brevity_penalty = sum.length == 0 && sum.reference_length > 0 ? 0 : ratio > 1 ? std::exp(1 - ratio) : 1;
  if (std::all_of(sum.matches.begin(), sum.matches.end(), [](std::int64_t n) { return n == 0; })) return;
  double smooth = 1, logs = 0;
  for (std::size_t n = 0; n < kOrders; ++n) {
    if (sum.ngrams[n] == 0) return;  // all hypotheses are shorter than n: the score is 0
    const auto all = static_cast<double>(sum.ngrams[n]);
    if (sum.matches[n] == 0) smooth *= 2;
    sum.precisions[n] =
        sum.matches[n] == 0 ? 100 / (smooth * all) : 100 * static_cast<double>(sum.matches[n]) / all;
    logs += std::log(sum.precisions[n]);
  }
  sum.score = sum.brevity_penalty * std::exp(logs / kOrders);
}

}  // namespace

Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> sets) {
  check(!hypotheses.empty() && !sets.empty(), "bleu: there are no {}",
        sets.empty() ? "references" : "hypotheses");
  for (const auto& set : sets)
    check(set.size() == hypotheses.size(), "bleu: expects a reference for each hypothesis, got {} for {}",
          set.size(), hypotheses.size());
  Bleu sum;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<Words> references;
    for (const auto& set : sets) references.push_back(words_13a(set[i]));
    add_line(sum, words_13a(hypotheses[i]), references);
  }
  finish(sum);
  return sum;
}

Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  const std::vector<std::vector<std::string>> sets{{references.begin(), references.end()}};
  return bleu(hypotheses, std::span(sets));
}

}  // namespace gradus::text
