// choose_tokens and generate on many random cases, against simple implementations.

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

/// Logits after the penalty for the tokens in `ids`.
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

TEST_CASE("choose_tokens: on random logits and options, samples have the computed probabilities") {
  constexpr std::int64_t kDraws = 40'000;
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

/// A simple generate() of a GPT: for each token one pass over the window, then the row's logits.
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

TEST_CASE(
    "GPT: generate with random models and options equals the simple version, also far beyond the context") {
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

/// A simple generate() of a Seq2SeqTransformer: every row separately, until its end.
Told generate_plainly(const nn::Seq2SeqTransformer& model, const Tensor& source, std::int64_t count,
                      const nn::GenerateOptions& o) {
  const std::int64_t end = model.options().end, pad = model.options().pad, rows = source.size(0);
  std::vector<Ids> written(at(rows), Ids{model.options().start});
  Told told{full({rows, 0}, pad), {}};
  Ids left(at(rows));
  std::iota(left.begin(), left.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < count && !left.empty(); ++i) {
    std::vector<Tensor> logits, ids;
    for (const std::int64_t b : left) {
      ids.push_back(from_vector(written[at(b)]));
      logits.push_back(model(source.slice(0, b, b + 1), ids.back().unsqueeze(0))[0][-1]);
    }
    const Tensor possible = masked_fill(stack(logits), arange(model.options().vocab) == pad, -INFINITY);
    const Ids tokens = nn::choose_tokens(possible, stack(ids), o).to_vector<std::int64_t>();
    Ids column(at(rows), pad), going_on;
    for (std::size_t k = 0; k < left.size(); ++k) {
      written[at(left[k])].push_back(tokens[k]);
      column[at(left[k])] = tokens[k];
      if (tokens[k] != end && !among(o.stop, tokens[k])) going_on.push_back(left[k]);
    }
    told.tokens.push_back(from_vector(column));
    left = going_on;
  }
  if (!told.tokens.empty()) told.text = stack(told.tokens, 1);
  return told;
}

}  // namespace

TEST_CASE("Seq2SeqTransformer: generate with random options equals the simple version") {
  const NoGrad guard;
  int ended = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Generator g(seed, 7);
    manual_seed(seed);
    const nn::Seq2SeqTransformer model({.vocab = 7,
                                        .context = 12,
                                        .encoder_layers = 1,
                                        .decoder_layers = 1,
                                        .block = {.d_model = 8, .heads = 2, .d_ff = 12}});
    randomize(model);
    Tensor source = randint(1, 7, {1 + g.below(4), 2 + g.below(5)}, g);
    if (source.size(0) > 1) source.select(0, 1).slice(0, 1).fill_(0);  // a row shorter than the others
    const std::int64_t count = g.below(12);
    nn::GenerateOptions o{.greedy = g.below(2) == 0};
    if (g.below(2) == 0) o.repetition_penalty = 1 + g.uniform();
    if (g.below(2) == 0) o.top_k = 1 + g.below(7);
    if (g.below(2) == 0) o.top_p = 0.3 + 0.7 * g.uniform();
    if (g.below(2) == 0) o.stop = {g.below(7)};
    Generator one(seed, 8), two(seed, 8), three(seed, 8);
    o.generator = &one;
    const Told plain = generate_plainly(model, source, count, o);
    for (const bool cache : {false, true}) {
      std::vector<Tensor> told;
      o.generator = cache ? &two : &three;
      o.cache = cache;
      o.on_token = [&](const Tensor& column) {
        told.push_back(column);
        return true;
      };
      const Tensor text = model.generate(source, count, o);
      CHECK(equal(text, plain.text));
      REQUIRE(told.size() == plain.tokens.size());
      for (std::size_t i = 0; i < told.size(); ++i) CHECK(equal(told[i], plain.tokens[i]));
      o.on_token = {};
    }
    ended += std::ssize(plain.tokens) < count ? 1 : 0;
  }
  CHECK(ended > 5);
}

}  // namespace gradus::test
