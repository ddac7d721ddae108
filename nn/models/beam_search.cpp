#include "gradus/nn/models/beam_search.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// A continuation with its sum of log-probabilities, and the row it goes on from.
struct Beam {
  std::vector<std::int64_t> tokens;
  double log_probability = 0;
  std::int64_t parent = 0;
};

class Search {
 public:
  explicit Search(const BeamOptions& options) : options_(options) {}

  /// The best continuations one token longer; those that end are put aside.
  void extend(const Tensor& logits) {
    const Tensor likely = log_softmax(logits.to(f64), -1);
    const std::int64_t vocab = likely.size(1);
    // So many that the beams go on even if every stop token is among the best.
    const auto wanted = std::min<std::int64_t>(options_.beams + std::ssize(options_.stop), vocab);
    const auto [values, tokens] = topk(likely, wanted);
    std::vector<Beam> longer;
    for (std::size_t i = 0; i < beams_.size(); ++i)
      for (std::int64_t j = 0; j < wanted; ++j) {
        const auto row = static_cast<std::int64_t>(i);
        Beam beam{
            beams_[i].tokens,
            beams_[i].log_probability + values.span<double>()[static_cast<std::size_t>(row * wanted + j)],
            row};
        beam.tokens.push_back(tokens.span<std::int64_t>()[static_cast<std::size_t>(row * wanted + j)]);
        longer.push_back(std::move(beam));
      }
    std::stable_sort(longer.begin(), longer.end(),
                     [](const Beam& a, const Beam& b) { return a.log_probability > b.log_probability; });
    beams_.clear();
    for (Beam& beam : longer) {
      if (std::ssize(beams_) == options_.beams) break;
      if (ends(beam.tokens.back()))
        put_aside(beam);
      else
        beams_.push_back(std::move(beam));
    }
  }

  /// Whether nothing under way can become one of the best: likelihoods only fall.
  bool done() const {
    if (beams_.empty()) return true;
    if (std::ssize(ended_) < options_.beams) return false;
    return beams_.front().log_probability / penalty(options_.count) <= ended_.back().score;
  }

  std::vector<Hypothesis> results() {
    for (const Beam& beam : beams_) put_aside(beam);
    return ended_;
  }

  const std::vector<Beam>& beams() const { return beams_; }

 private:
  bool ends(std::int64_t token) const {
    return std::find(options_.stop.begin(), options_.stop.end(), token) != options_.stop.end();
  }
  double penalty(std::int64_t length) const {
    return std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }
  void put_aside(const Beam& beam) {
    ended_.push_back({beam.tokens, beam.log_probability / penalty(std::ssize(beam.tokens))});
    std::stable_sort(ended_.begin(), ended_.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    if (std::ssize(ended_) > options_.beams) ended_.pop_back();
  }

  const BeamOptions& options_;
  std::vector<Beam> beams_{Beam{}};  // the likeliest first
  std::vector<Hypothesis> ended_;    // the best first
};

}  // namespace

std::vector<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options, const BeamStep& step) {
  expect_ids("beam_search", "prompt", prompt);
  check(prompt.dim() == 1 && prompt.size(0) > 0,
        "beam_search: expects a prompt [T] of at least one token, got {}", prompt.shape());
  expect_positive("beam_search", "beams", options.beams);
  expect_positive("beam_search", "count", options.count);
  check(options.length_penalty >= 0 && std::isfinite(options.length_penalty),
        "beam_search: expects a length_penalty of 0 or more, got {}", options.length_penalty);
  const NoGrad guard;
  Search search(options);
  Tensor logits = step(prompt.unsqueeze(0), zeros({1}, i64));
  for (std::int64_t length = 1;; ++length) {
    check(logits.dim() == 2 && logits.size(0) == std::ssize(search.beams()),
          "beam_search: expects logits [{}, V] of each step, got {}", search.beams().size(), logits.shape());
    search.extend(logits);
    if (length == options.count || search.done()) break;
    std::vector<std::int64_t> tokens, parents;
    for (const auto& beam : search.beams()) {
      tokens.push_back(beam.tokens.back());
      parents.push_back(beam.parent);
    }
    logits = step(from_vector(tokens, {std::ssize(tokens), 1}), from_vector(parents, {std::ssize(parents)}));
  }
  return search.results();
}

}  // namespace gradus::nn
