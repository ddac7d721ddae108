#include "lab/training/ngram.h"
#include "gradus/core/check.h"

#include <algorithm>
#include <cmath>

namespace gradus::lab {
namespace {

using Tokens = std::span<const std::int32_t>;

// The last `length` characters of `before` as one number.
std::uint64_t code_of(Tokens before, std::size_t length, std::uint64_t vocabulary) {
  std::uint64_t code = 0;
  for (const std::int32_t token : before.last(length))
    code = code * vocabulary + static_cast<std::uint64_t>(token);
  return code;
}

std::int64_t predicted(std::span<const std::vector<std::int32_t>> texts) {
  std::int64_t count = 0;
  for (const auto& text : texts)
    count += std::max<std::int64_t>(static_cast<std::int64_t>(text.size()) - 1, 0);
  return count;
}

}  // namespace

Ngram::Ngram(int n, std::int64_t vocabulary)
    : n_(n),
      vocabulary_(static_cast<std::uint64_t>(vocabulary)),
      counts_(static_cast<std::size_t>(std::max(n, 0))) {
  check(n >= 1, "Ngram: expects n of at least 1, got {}", n);
  check(vocabulary >= 1, "Ngram: expects a vocabulary of at least 1, got {}", vocabulary);
  check(n * std::log2(static_cast<double>(vocabulary)) < 64,
        "Ngram: a vocabulary of {} is too large for n = {}; use a smaller n", vocabulary, n);
}

void Ngram::learn(Tokens text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    check(text[i] >= 0 && static_cast<std::uint64_t>(text[i]) < vocabulary_,
          "Ngram: token {} is outside 0..{}", text[i], vocabulary_ - 1);
    for (std::size_t length = 0; length < counts_.size() && length <= i; ++length) {
      const std::uint64_t context = code_of(text.first(i), length, vocabulary_);
      const auto next = static_cast<std::uint64_t>(text[i]);
      std::int64_t& seen = counts_[length].followers[context * vocabulary_ + next];
      Context& totals = counts_[length].contexts[context];
      totals.types += seen == 0;
      ++seen, ++totals.count;
    }
  }
}

double Ngram::probability(Tokens before, std::int32_t next) const {
  double p = 1 / static_cast<double>(vocabulary_);
  for (std::size_t length = 0; length < counts_.size() && length <= before.size(); ++length) {
    const std::uint64_t context = code_of(before, length, vocabulary_);
    const auto totals = counts_[length].contexts.find(context);
    if (totals == counts_[length].contexts.end()) break;  // longer contexts were not seen either
    const auto seen =
        counts_[length].followers.find(context * vocabulary_ + static_cast<std::uint64_t>(next));
    const double count = seen == counts_[length].followers.end() ? 0 : static_cast<double>(seen->second);
    const auto types = static_cast<double>(totals->second.types);
    p = (count + types * p) / (static_cast<double>(totals->second.count) + types);
  }
  return p;
}

double Ngram::loss(Tokens text) const {
  check(text.size() >= 2, "Ngram: a loss needs a text of at least 2 characters, got {}", text.size());
  double sum = 0;
  for (std::size_t i = 1; i < text.size(); ++i) sum -= std::log(probability(text.first(i), text[i]));
  return sum / static_cast<double>(text.size() - 1);
}

NgramBaseline best_ngram(std::span<const std::vector<std::int32_t>> train,
                         std::span<const std::vector<std::int32_t>> held_out, std::int64_t vocabulary,
                         int largest_n) {
  check(largest_n >= 1, "best_ngram: expects n of at least 1, got {}", largest_n);
  check(predicted(train) > 0 && predicted(held_out) > 0,
        "best_ngram: expects texts of at least 2 characters for training and for measuring");
  NgramBaseline baseline;
  for (int n = 1; n <= largest_n; ++n) {
    Ngram model(n, vocabulary);
    for (const auto& text : train) model.learn(text);
    double sum = 0;
    for (const auto& text : held_out) {
      if (text.size() >= 2) sum += model.loss(text) * static_cast<double>(text.size() - 1);
    }
    baseline.losses.push_back(sum / static_cast<double>(predicted(held_out)));
  }
  const auto best = std::min_element(baseline.losses.begin(), baseline.losses.end());
  baseline.n = static_cast<int>(best - baseline.losses.begin()) + 1;
  baseline.loss = *best;
  return baseline;
}

}  // namespace gradus::lab
