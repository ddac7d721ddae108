// choose_tokens, generate and beam search on many random cases, against the same written out plainly.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

using Ids = std::vector<std::int64_t>;
using Row = std::vector<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
bool among(const Ids& ids, std::int64_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

/// Logits after the penalty of what stands in `ids`.
Row penalized(Row logits, const Ids& ids, double penalty) {
  for (std::size_t v = 0; v < logits.size(); ++v)
    if (among(ids, static_cast<std::int64_t>(v)))
      logits[v] = logits[v] > 0 ? logits[v] / penalty : logits[v] * penalty;
  return logits;
}

/// The probability of each token as the options have it; `closest`, how near top_p is to a sum it is compared
/// with: very near, and rounding decides.
Row probabilities(const Row& logits, const Ids& ids, const nn::GenerateOptions& o, double* closest) {
  const Row scored = penalized(logits, ids, o.repetition_penalty);
  std::vector<std::size_t> order(scored.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scored[a] > scored[b]; });
  if (o.top_k > 0) order.resize(std::min(order.size(), at(o.top_k)));
  Row weight(scored.size(), 0.0);
  double all = 0;
  for (const std::size_t v : order)
    all += weight[v] = std::exp((scored[v] - scored[order[0]]) / o.temperature);
  double before = 0, kept = 0;
  for (const std::size_t v : order) {
    if (o.top_p < 1) *closest = std::min(*closest, std::abs(before / all - o.top_p));
    const double w = weight[v];
    if (o.top_p < 1 && before / all >= o.top_p) weight[v] = 0;
    before += w;
    kept += weight[v];
  }
  for (double& w : weight) w /= kept;
  return weight;
}

}  // namespace

TEST_CASE("choose_tokens: on random logits and options, draws have the probabilities written out") {
  constexpr std::int64_t kDraws = 4000;
  int compared = 0, cut = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Generator g(seed, 3);
    const std::int64_t vocab = 1 + g.below(9);
    const Tensor logits = randn({1, vocab}, g) * 2.0;
    const Tensor ids = randint(0, vocab, {1, 1 + g.below(4)}, g);
    nn::GenerateOptions o{.generator = &g};
    if (g.below(2) == 0) o.temperature = 0.3 + 2 * g.uniform();
    if (g.below(2) == 0) o.top_k = g.below(12);
    if (g.below(2) == 0) o.top_p = 0.05 + 0.9 * g.uniform();
    if (g.below(2) == 0) o.repetition_penalty = 0.5 + 2 * g.uniform();
    double closest = 1;
    const Row p = probabilities(logits[0].to_vector<double>(), ids[0].to_vector<std::int64_t>(), o, &closest);
    if (closest < 1e-5) continue;
    ++compared;
    const Tensor tokens = nn::choose_tokens(logits.expand({kDraws, -1}), ids.expand({kDraws, -1}), o);
    o.greedy = true;
    const std::int64_t likeliest = nn::choose_tokens(logits, ids, o).item<std::int64_t>();
    CHECK(p[at(likeliest)] == *std::max_element(p.begin(), p.end()));
    for (std::int64_t v = 0; v < vocab; ++v) {
      const double share = (tokens == v).to(f64).mean().item(), expected = p[at(v)];
      cut += expected == 0 ? 1 : 0;
      CAPTURE(v);
      if (expected == 0) CHECK(share == 0);
      CHECK(std::abs(share - expected) <=
            5 * std::sqrt(expected * (1 - expected) / static_cast<double>(kDraws)) + 1e-9);
    }
  }
  CHECK(compared > 50);
  CHECK(cut > 50);
}

namespace {

struct Told {
  Tensor text;
  std::vector<Tensor> tokens;  // as on_token got them
};

/// generate() of a GPT by its words: for each token one pass over the window, then the row's logits.
Told generate_plainly(const nn::GPT& gpt, const Tensor& prompt, std::int64_t count,
                      const nn::GenerateOptions& o, std::int64_t most_told) {
  const std::int64_t context = gpt.options().context, rows = prompt.size(0);
  Told told{prompt, {}};
  std::vector<bool> ended(at(rows));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = told.text.size(1);
    std::int64_t begin = 0;
    while (length - begin > context) begin += o.slide;
    const Tensor logits = gpt(told.text.slice(1, begin)).select(1, -1);
    const Tensor chosen = nn::choose_tokens(logits, told.text, o);
    Ids tokens;
    for (std::int64_t b = 0; b < rows; ++b) {
      const std::int64_t last = told.text[b][-1].item<std::int64_t>();
      tokens.push_back(ended[at(b)] ? last : chosen[b].item<std::int64_t>());
      if (among(o.stop, tokens.back())) ended[at(b)] = true;
    }
    told.tokens.push_back(from_vector(tokens));
    told.text = cat({told.text, from_vector(tokens, {rows, 1})}, 1);
    if (std::ssize(told.tokens) == most_told) break;
    if (!o.stop.empty() && std::find(ended.begin(), ended.end(), false) == ended.end()) break;
  }
  return told;
}

}  // namespace

TEST_CASE("GPT: generate of random models and options is what its words say, far beyond the context too") {
  const NoGrad guard;
  int slid = 0, stopped = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Generator g(seed, 4);
    manual_seed(seed);
    const std::int64_t context = 2 + g.below(7);
    const nn::GPT gpt({.vocab = 7,
                       .context = context,
                       .layers = 1 + g.below(2),
                       .block = {.d_model = 8, .heads = 2},
                       .positions = g.below(2) == 0 ? nn::Positions::learned : nn::Positions::rotary});
    randomize(gpt);
    const Tensor prompt = randint(0, 7, {1 + g.below(3), 1 + g.below(2 * context)}, g);
    const std::int64_t count = g.below(25);
    const auto most_told = g.below(3) == 0 ? 1 + g.below(10) : std::int64_t{100};
    nn::GenerateOptions o{.greedy = g.below(2) == 0};
    if (g.below(2) == 0) o.repetition_penalty = 1 + g.uniform();
    if (g.below(2) == 0) o.top_k = 1 + g.below(7);
    if (g.below(2) == 0) o.top_p = 0.3 + 0.7 * g.uniform();
    o.slide = 1 + g.below(context);
    while (std::ssize(o.stop) < 2 && g.below(3) > 0) o.stop.push_back(g.below(7));
    Generator one(seed, 5), two(seed, 5), three(seed, 5);
    o.generator = &one;
    const Told plain = generate_plainly(gpt, prompt, count, o, most_told);
    for (const bool cache : {false, true}) {
      std::vector<Tensor> told;
      o.generator = cache ? &two : &three;
      o.cache = cache;
      o.on_token = [&](const Tensor& tokens) {
        told.push_back(tokens);
        return std::ssize(told) < most_told;
      };
      const Tensor text = gpt.generate(prompt, count, o);
      REQUIRE(text.shape() == plain.text.shape());
      CHECK((text == plain.text).all());
      REQUIRE(told.size() == plain.tokens.size());
      for (std::size_t i = 0; i < told.size(); ++i) CHECK(equal(told[i], plain.tokens[i]));
      o.on_token = {};
    }
    slid += plain.text.size(1) > context + 1 ? 1 : 0;
    stopped += std::ssize(plain.tokens) < std::min(count, most_told) ? 1 : 0;
  }
  CHECK(slid > 20);
  CHECK(stopped > 5);
}

namespace {

/// log P of each token after a text: a table's row, by its prompt's number, its length and its last tokens.
struct Table {
  std::int64_t vocab;
  Tensor rows;  // [prompts, count, vocab, vocab, vocab], some of them -infinity
  Tensor after(std::int64_t prompt, const Ids& text) const {
    const std::size_t n = text.size();
    return rows[prompt][std::ssize(text) - 2][text[n - 2]][text[n - 1]];
  }
};

/// Beam search by its words: all continuations of all beams, in order of their likelihood.
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

TEST_CASE("beam search: on random tables and options, several prompts at once, what its words say") {
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
