// Beam search over targets: against exhaustive search; many sources at once.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

nn::Seq2SeqTransformer model_for_beams() {
  manual_seed(11);
  const nn::Seq2SeqTransformer model({.vocab = 6,
                                      .context = 12,
                                      .encoder_layers = 1,
                                      .decoder_layers = 2,
                                      .block = {.d_model = 8, .heads = 2, .d_ff = 12}});
  randomize(model);
  return model;
}

const Tensor kSources = tensor({{3, 4, 5, 2, 0}, {5, 2, 0, 0, 0}, {1, 3, 5, 4, 2}});

/// Every target of up to `count` tokens, best first.
std::vector<nn::Hypothesis> every_target(const nn::Seq2SeqTransformer& model, const Tensor& source,
                                         std::int64_t count, double penalty) {
  const NoGrad guard;
  const nn::EncoderOutput encoded = model.encode(source);
  std::vector<nn::Hypothesis> every;
  const std::function<void(std::vector<std::int64_t>, double)> go_on = [&](const std::vector<std::int64_t>&
                                                                               tokens,
                                                                           double log_probability) {
    const auto length = std::ssize(tokens);
    if (length == count || (length > 0 && tokens.back() == 2)) {
      every.push_back({tokens, log_probability / std::pow((5 + static_cast<double>(length)) / 6, penalty)});
      return;
    }
    std::vector<std::int64_t> ids{1};
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    const Tensor logits = model.decode(from_vector(ids, {1, std::ssize(ids)}), encoded).select(1, -1);
    const Tensor likely = log_softmax(masked_fill(logits.to(f64), arange(6) == 0, -INFINITY), -1);
    for (std::int64_t token = 1; token < 6; ++token) {
      std::vector<std::int64_t> longer = tokens;
      longer.push_back(token);
      go_on(longer, log_probability + likely[0][token].item());
    }
  };
  go_on({}, 0);
  std::stable_sort(every.begin(), every.end(),
                   [](const nn::Hypothesis& a, const nn::Hypothesis& b) { return a.score > b.score; });
  return every;
}

void check_same(const std::vector<nn::Hypothesis>& a, const std::vector<nn::Hypothesis>& b,
                std::size_t count) {
  REQUIRE(a.size() >= count);
  REQUIRE(b.size() >= count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(a[i].tokens == b[i].tokens);
    CHECK(a[i].score == doctest::Approx(b[i].score).epsilon(1e-4));
  }
}

}  // namespace

TEST_CASE("Seq2SeqTransformer: beam search finds the results of exhaustive search, for all sources at once") {
  const nn::Seq2SeqTransformer model = model_for_beams();
  for (const double penalty : {0.0, 0.7}) {
    const auto found = model.beam_search(kSources, {.beams = 250, .count = 4, .length_penalty = penalty});
    REQUIRE(found.size() == 3);
    for (std::int64_t b = 0; b < 3; ++b)
      check_same(found[static_cast<std::size_t>(b)],
                 every_target(model, kSources.slice(0, b, b + 1), 4, penalty), 20);
  }
}

TEST_CASE("Seq2SeqTransformer: padding is never generated, even if it is likely") {
  nn::Seq2SeqOptions options = model_for_beams().options();
  options.head_bias = true;
  options.pad = 5;
  const nn::Seq2SeqTransformer model(options);
  const NoGrad guard;
  const Tensor sources = tensor({{3, 4, 0, 2, 5}, {2, 5, 5, 5, 5}, {1, 3, 0, 4, 2}});
  model.head_bias.copy_(tensor({0.0, 0.0, -20.0, 0.0, 0.0, 20.0}).to(f32));  // the end is not likely
  for (const nn::GenerateOptions& given :
       {nn::GenerateOptions{.greedy = true}, nn::GenerateOptions{.cache = false},
        nn::GenerateOptions{.top_k = 6, .repetition_penalty = 1.5}, nn::GenerateOptions{.top_p = 0.9}})
    CHECK_FALSE((model.generate(sources, 8, given) == 5).any());
  for (const std::int64_t beams : {1, 3, 1000})
    for (const auto& found : model.beam_search(sources, {.beams = beams, .count = 4}))
      for (const nn::Hypothesis& one : found) {
        CHECK(std::isfinite(one.score));
        CHECK(std::count(one.tokens.begin(), one.tokens.end(), 5) == 0);
      }
}

TEST_CASE("Seq2SeqTransformer: beams of one source are the same alone and in a batch") {
  const nn::Seq2SeqTransformer model = model_for_beams();
  for (const bool early : {false, true}) {
    const nn::BeamOptions options{.beams = 3, .count = 10, .stop = {4}, .early_stop = early};
    const auto found = model.beam_search(kSources, options);
    for (std::int64_t b = 0; b < 3; ++b) {
      const auto alone = model.beam_search(kSources[b], options);
      REQUIRE(alone.size() == 1);
      check_same(found[static_cast<std::size_t>(b)], alone[0], alone[0].size());
    }
  }
}

TEST_CASE("Seq2SeqTransformer: one beam is greedy, and ending early ends earlier") {
  const nn::Seq2SeqTransformer model = model_for_beams();
  const auto one =
      model.beam_search(kSources, {.beams = 1, .count = 8, .length_penalty = 0, .early_stop = true});
  const Tensor greedy = model.generate(kSources, 8, {.greedy = true});
  for (std::int64_t b = 0; b < 3; ++b) {
    std::vector<std::int64_t> tokens = one[static_cast<std::size_t>(b)][0].tokens;
    if (tokens.back() != 2) {  // a later one may be better than what greedy ends with
      CHECK(std::ssize(tokens) == 8);
    }
    tokens.resize(static_cast<std::size_t>(greedy.size(1)), 0);
    CHECK(tokens == greedy[b].to_vector<std::int64_t>());
  }
  const auto steps = [](bool early) {  // ends are likely, and the rest ever less
    std::int64_t calls = 0;
    nn::beam_search(tensor({0}),
                    {.beams = 2, .count = 9, .stop = {1}, .length_penalty = 1, .early_stop = early},
                    [&](const Tensor& tokens, const Tensor&) {
                      ++calls;
                      return tensor({{0.6, 0.3, 0.1}}).log().expand({tokens.size(0), 3});
                    });
    return calls;
  };
  CHECK(steps(true) < steps(false));
  CHECK(model.beam_search(kSources.slice(0, 0, 0), {.count = 3}).empty());
}

TEST_CASE("beam search: early_stop drops unfinished beams, count truncates them") {
  // From 9 on: 1 is likely and repeats with 0.9; all others end, with 0.
  const auto step = [](const Tensor& tokens, const Tensor&) {
    std::vector<Tensor> rows;
    for (const std::int64_t last : tokens.select(1, -1).to_vector<std::int64_t>())
      rows.push_back(last == 9   ? tensor({0.3, 0.6, 0.1})
                     : last == 1 ? tensor({0.05, 0.9, 0.05})
                                 : tensor({0.9, 0.05, 0.05}));
    return stack(rows).log();
  };
  const auto found = [&](bool early, std::int64_t count) {
    std::vector<std::vector<std::int64_t>> tokens;
    for (const nn::Hypothesis& h :
         nn::beam_search(tensor({9}), {.beams = 2, .count = count, .stop = {0}, .early_stop = early}, step))
      tokens.push_back(h.tokens);
    return tokens;
  };
  using Found = std::vector<std::vector<std::int64_t>>;
  CHECK(found(true, 2) == Found{{0}, {2, 0}});  // both have ended: 1 1 is likelier, and under way
  CHECK(found(true, 20) == found(true, 2));
  CHECK(found(false, 2) == Found{{1, 1}, {0}});
}

}  // namespace gradus::test
