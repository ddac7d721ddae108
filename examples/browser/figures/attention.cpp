#include "browser/figures/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/check.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

// A letter is a two-hot row of 64 values: channel i < 32 encodes the letter, channel 32 + t its position.
constexpr std::int64_t kChannels = 64, kPlaces = 32, kMost = 24;
constexpr double kStrength = 6;  // of the rules

struct Weights {
  Tensor query, key;  // [64, 64], q = x query^T
};

/// Channel `to` becomes channel `from` times kStrength, for `count` of them.
Tensor copies(std::int64_t to, std::int64_t from, std::int64_t count) {
  const Tensor w = zeros({kChannels, kChannels});
  for (std::int64_t i = 0; i < count; ++i) w[to + i][from + i] = kStrength;
  return w;
}

Weights weights_of(const HeadSettings& settings) {
  if (settings.rule == "same") return {copies(0, 0, kPlaces), copies(0, 0, kPlaces)};
  const Tensor places = copies(kPlaces, kPlaces, kPlaces);
  if (settings.rule == "previous") return {copies(kPlaces, kPlaces + 1, kPlaces - 1), places};
  if (settings.rule == "next") return {copies(kPlaces + 1, kPlaces, kPlaces - 1), places};
  check(settings.rule == "random", "attention: there is no rule called {}", settings.rule);
  Generator generator(static_cast<std::uint64_t>(settings.seed));
  const auto drawn = [&] { return randn({kChannels, kChannels}, generator) / std::sqrt(2.0); };
  const Tensor query = drawn();
  return {query, drawn()};
}

/// The letter ids by position, numbered in order of first appearance.
std::vector<std::int64_t> numbers_of(const std::vector<std::string>& letters) {
  std::vector<std::string> known;
  std::vector<std::int64_t> numbers;
  for (const std::string& letter : letters) {
    const auto at = std::find(known.begin(), known.end(), letter);
    numbers.push_back(at - known.begin());
    if (at == known.end()) known.push_back(letter);
  }
  return numbers;
}

Tensor embedded(const std::vector<std::int64_t>& numbers) {
  const auto length = std::ssize(numbers);
  const Tensor x = zeros({length, kChannels});
  for (std::int64_t t = 0; t < length; ++t) {
    x[t][numbers[static_cast<std::size_t>(t)]] = 1.0;
    x[t][kPlaces + t] = 1.0;
  }
  return x;
}

/// The library's attention_weights, or its softmax over the wrong axis: [T, T].
Tensor weights_on(const Tensor& x, const Weights& w, const HeadSettings& settings) {
  const Tensor q = linear(x, w.query), k = linear(x, w.key);
  const double scale = settings.scaled ? 1 / std::sqrt(double(kChannels)) : 1.0;
  if (!settings.over_queries) {
    const Shape one_head{1, 1, x.size(0), kChannels};
    return attention_weights(q.reshape(one_head), k.reshape(one_head),
                             {.causal = settings.causal, .scale = scale})
        .reshape({x.size(0), x.size(0)});
  }
  Tensor scores = matmul(q, k.t()) * scale;
  const Tensor places = arange(x.size(0));
  if (settings.causal)
    scores = masked_fill(scores, places > places.unsqueeze(1), -std::numeric_limits<double>::infinity());
  return softmax(scores, 0);
}

void check_settings(const HeadSettings& settings) {
  check(!settings.letters.empty() && std::ssize(settings.letters) <= kMost,
        "attention: expects 1 to {} letters, got {}", kMost, settings.letters.size());
  check(settings.seed >= 0 && settings.seed <= 999,
        "attention: seed expects a whole number from 0 to 999, got {}", settings.seed);
}

}  // namespace

std::vector<HeadRule> head_rules() {
  return {
      {"same", "looks at the same letter",
       "Each letter has its own channel. Query and key have a 6 there and 0 elsewhere, so equal letters "
       "score 6 · 6 = 36 and all others 0."},
      {"previous", "looks at the previous letter",
       "Each position has its own channel. The key has a 6 in the channel of its position, the query in the "
       "channel of the previous one: where these coincide, the score is 6 · 6 = 36."},
      {"next", "looks at the next letter",
       "As for the previous letter, but with the next position. With a causal mask there is nothing to look "
       "at."},
      {"random", "random weights, as before training",
       "Both matrices are drawn at random. Scores are then as large as √D = 8, and about 1 once they are "
       "scaled."}};
}

Head attend(const HeadSettings& settings) {
  check_settings(settings);
  const DefaultDType doubles(f64);
  const NoGrad no_tape;
  const Weights w = weights_of(settings);
  std::vector<std::int64_t> numbers = numbers_of(settings.letters);
  const Tensor x = embedded(numbers);
  const Tensor weights = weights_on(x, w, settings);
  numbers.back() = kPlaces - 1;  // a letter not in the text
  const Tensor other = embedded(numbers);
  const auto handed_on = [](const Tensor& by, const Tensor& from) {
    return matmul(by, from.slice(1, 0, kPlaces));  // values are the letters' one-hot codes
  };
  const Tensor change = handed_on(weights_on(other, w, settings), other) - handed_on(weights, x);
  const Tensor places = arange(x.size(0));

  Head head;
  for (const Tensor& row : unbind(weights, 0)) head.weights.push_back(row.to_vector<double>());
  head.sums = weights.sum(1).to_vector<double>();
  head.future = where(places > places.unsqueeze(1), weights, 0.0).sum(1).to_vector<double>();
  head.change = change.abs().max(1).to_vector<double>();
  return head;
}

}  // namespace gradus::browser
