// Beam search on many random tables, against a simple implementation.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/random/random.h"
#include "gradus/nn/models/beam_search.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

namespace {

using Ids = std::vector<std::int64_t>;
using Row = std::vector<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
bool among(const Ids& ids, std::int64_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

/// log P of each token after a text: a table's row, by its prompt's number, its length and its last tokens.
struct Table {
  std::int64_t vocab;
  Tensor rows;  // [prompts, count, vocab, vocab, vocab], some of them -infinity
  Tensor after(std::int64_t prompt, const Ids& text) const {
    const std::size_t n = text.size();
    return rows[prompt][std::ssize(text) - 2][text[n - 2]][text[n - 1]];
  }
};

/// A simple beam search: all continuations of all beams, in order of their likelihood.
std::vector<nn::Hypothesis> search_plainly(const Table& table, std::int64_t prompt, const Ids& start,
                                           const nn::BeamOptions& o) {
  struct Beam {
    Ids text;
    double log_probability;
  };
  const auto by_score = [](const nn::Hypothesis& a, const nn::Hypothesis& b) { return a.score > b.score; };
  const auto penalty = [&](double length) { return std::pow((5 + length) / 6, o.length_penalty); };
  std::vector<Beam> beams{{start, 0}};
  std::vector<nn::Hypothesis> ended;
  const auto end = [&](const Beam& beam) {
    const Ids tokens(beam.text.begin() + std::ssize(start), beam.text.end());
    ended.push_back({tokens, beam.log_probability / penalty(static_cast<double>(tokens.size()))});
    std::stable_sort(ended.begin(), ended.end(), by_score);
    if (std::ssize(ended) > o.beams) ended.pop_back();
  };
  for (std::int64_t length = 1; length <= o.count; ++length) {
    std::vector<Beam> longer;
    for (const Beam& beam : beams) {
      const Row likely = table.after(prompt, beam.text).to_vector<double>();
      for (std::int64_t v = 0; v < table.vocab; ++v) {
        if (likely[at(v)] == -INFINITY) continue;
        longer.push_back({beam.text, beam.log_probability + likely[at(v)]});
        longer.back().text.push_back(v);
      }
    }
    std::stable_sort(longer.begin(), longer.end(),
                     [](const Beam& a, const Beam& b) { return a.log_probability > b.log_probability; });
    beams.clear();
    for (const Beam& beam : longer) {
      if (std::ssize(beams) == o.beams) break;
      if (among(o.stop, beam.text.back()))
        end(beam);
      else
        beams.push_back(beam);
    }
    if (beams.empty()) return ended;
    if (std::ssize(ended) < o.beams) continue;
    // What the best of them can still become: nothing is added to its sum, over the largest penalty.
    if (o.early_stop ||
        beams[0].log_probability / penalty(static_cast<double>(o.count)) <= ended.back().score)
      return ended;
  }
  for (const Beam& beam : beams) end(beam);
  return ended;
}

}  // namespace

TEST_CASE(
    "beam search: on random tables and options, with several prompts at once, against the simple search") {
  int early = 0, cut_off = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Generator g(seed, 6);
    const std::int64_t vocab = 2 + g.below(5), prompts = 1 + g.below(3);
    nn::BeamOptions o{.beams = 1 + g.below(6), .count = 1 + g.below(8)};
    Tensor logits = randn({prompts, o.count, vocab, vocab, vocab}, g).to(f64) * 3.0;
    if (g.below(2) == 0) {
      logits = masked_fill(logits, rand(logits.shape(), g) < 0.3, -INFINITY);
      logits.select(-1, 1).copy_(
          zeros({prompts, o.count, vocab, vocab}, f64));  // something can always follow
    }
    const Table table{vocab, log_softmax(logits, -1)};
    while (std::ssize(o.stop) < 3 && g.below(3) > 0) o.stop.push_back(g.below(vocab));
    o.length_penalty = g.below(2) == 0 ? 2 * g.uniform() : 0;
    o.early_stop = g.below(2) == 0;
    const Tensor starts = randint(0, vocab, {prompts, 2}, g);
    // The rows' texts, kept as a model keeps its cache: by the rows they go on from.
    std::vector<std::pair<std::int64_t, Ids>> texts;
    for (std::int64_t p = 0; p < prompts; ++p) texts.push_back({p, {}});
    const auto found = nn::beam_search_batch(starts, o, [&](const Tensor& tokens, const Tensor& parents) {
      std::vector<std::pair<std::int64_t, Ids>> next;
      std::vector<Tensor> rows;
      for (std::int64_t row = 0; row < parents.size(0); ++row) {
        next.push_back(texts[at(parents[row].item<std::int64_t>())]);
        for (const std::int64_t token : tokens[row].to_vector<std::int64_t>())
          next.back().second.push_back(token);
        rows.push_back(table.after(next.back().first, next.back().second));
      }
      texts = std::move(next);
      return stack(rows) * 1.0 + 2.5;  // logits: any number more than logarithms of probabilities
    });
    REQUIRE(std::ssize(found) == prompts);
    for (std::int64_t p = 0; p < prompts; ++p) {
      const auto expected = search_plainly(table, p, starts[p].to_vector<std::int64_t>(), o);
      const std::vector<nn::Hypothesis>& got = found[at(p)];
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].tokens == expected[i].tokens);
        CHECK(std::abs(got[i].score - expected[i].score) < 1e-9);
        (among(o.stop, got[i].tokens.back()) ? early : cut_off) += 1;
      }
    }
  }
  CHECK(early > 100);
  CHECK(cut_off > 100);
}

}  // namespace gradus::test
