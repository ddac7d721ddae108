#include "gradus/nn/models/beam_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// A continuation, its sum of log-probabilities, and the row that it extends.
struct Beam {
  std::vector<std::int64_t> tokens;
  double log_probability = 0;
  std::int64_t parent = 0;
};

/// The `count` likeliest tokens after each row.
struct Likely {
  std::int64_t count = 0;
  std::vector<double> log_probabilities;
  std::vector<std::int64_t> tokens;
};

Likely likeliest(const Tensor& logits, const BeamOptions& options) {
  // Enough for all beams to continue even if every stop token is among the best.
  const auto count = std::min<std::int64_t>(options.beams + std::ssize(options.stop), logits.size(1));
  const Tensor best = logits.max(-1);
  check((isfinite(best) | (best == -INFINITY)).all(),
        "beam_search: the logits contain NaN or infinity: so do the weights, or they are very large");
  const auto [values, tokens] = topk(log_softmax(logits, -1), count);
  return {count, values.to(f64).to_vector<double>(), tokens.to_vector<std::int64_t>()};
}

/// The beams of one prompt.
class Search {
 public:
  explicit Search(const BeamOptions& options) : options_(options) {}

  /// Extends the beams by one token, keeps the best and puts aside those that end. `likely` has the likeliest
  /// tokens of all rows; the rows of this search begin at `first`.
  void extend(const Likely& likely, std::int64_t first) {
    std::vector<Beam> longer;
    for (std::size_t i = 0; i < beams_.size(); ++i)
      for (std::int64_t j = 0; j < likely.count; ++j) {
        const std::int64_t row = first + static_cast<std::int64_t>(i);
        const auto at = static_cast<std::size_t>(row * likely.count + j);
        if (!std::isfinite(likely.log_probabilities[at])) continue;  // impossible; NaN if all are
        Beam beam{beams_[i].tokens, beams_[i].log_probability + likely.log_probabilities[at], row};
        beam.tokens.push_back(likely.tokens[at]);
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

  /// Whether no unfinished beam can become one of the best: log-probabilities only decrease.
  bool done() const {
    if (beams_.empty()) return true;
    if (std::ssize(ended_) < options_.beams) return false;
    if (options_.early_stop) return true;
    return beams_.front().log_probability / penalty(options_.count) <= ended_.back().score;
  }

  ListOf<Hypothesis> results() {
    if (!done())  // `count` ended the search
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
  ListOf<Hypothesis> ended_;         // the best first
};

void expect_search(const Tensor& prompts, const BeamOptions& options) {
  expect_ids("beam_search", "prompt", prompts);
  check(prompts.dim() == 2 && prompts.size(1) > 0,
        "beam_search: expects prompts [B, T] of at least one token, got {}", prompts.shape());
  expect_positive("beam_search", "beams", options.beams);
  expect_positive("beam_search", "count", options.count);
  check(options.length_penalty >= 0 && options.length_penalty <= 10,
        "beam_search: expects a length_penalty from 0 to 10, got {}", options.length_penalty);
}

/// The last tokens of all beams [N, 1], and the rows that they extend [N].
std::pair<Tensor, Tensor> next_rows(const std::vector<Search*>& searches) {
  std::vector<std::int64_t> tokens, parents;
  for (const Search* search : searches)
    for (const Beam& beam : search->beams()) {
      tokens.push_back(beam.tokens.back());
      parents.push_back(beam.parent);
    }
  return {from_vector(tokens, {std::ssize(tokens), 1}), from_vector(parents, {std::ssize(parents)})};
}

}  // namespace

ListOf<ListOf<Hypothesis>> beam_search_batch(const Tensor& prompts, const BeamOptions& options,
                                             const BeamStep& step) {
  expect_search(prompts, options);
  const NoGrad guard;
  std::vector<Search> searches(static_cast<std::size_t>(prompts.size(0)), Search(options));
  std::vector<Search*> going_on;
  for (Search& search : searches) going_on.push_back(&search);
  Tensor tokens = prompts, parents = arange(prompts.size(0));
  for (std::int64_t length = 1; length <= options.count && !going_on.empty(); ++length) {
    const Tensor logits = step(tokens, parents);
    check(logits.defined() && logits.dim() == 2 && logits.size(0) == parents.size(0) && logits.size(1) > 0,
          "beam_search: expects logits [{}, V] of each step, got {}", parents.size(0),
          logits.defined() ? to_string(logits.shape()) : "an undefined tensor");
    expect_stop("beam_search:", options.stop, logits.size(1));
    const Likely likely = likeliest(logits, options);
    std::int64_t row = 0;
    for (Search* search : going_on) {
      const std::int64_t rows = std::ssize(search->beams());
      search->extend(likely, row);
      row += rows;
    }
    std::erase_if(going_on, [](const Search* search) { return search->done(); });
    std::tie(tokens, parents) = next_rows(going_on);
  }
  ListOf<ListOf<Hypothesis>> results;
  for (Search& search : searches) results.push_back(search.results());
  return results;
}

ListOf<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options, const BeamStep& step) {
  expect_ids("beam_search", "prompt", prompt);
  check(prompt.dim() == 1 && prompt.size(0) > 0,
        "beam_search: expects a prompt [T] of at least one token, got {}", prompt.shape());
  return beam_search_batch(prompt.unsqueeze(0), options, step)[0];
}

}  // namespace gradus::nn
