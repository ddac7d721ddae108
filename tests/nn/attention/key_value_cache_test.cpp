#include "gradus/nn/attention/key_value_cache.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/sgd.h"
#include "nn/check_module.h"

using namespace gradus;
using nn::Placement;
using nn::post_ln;
using nn::pre_ln;
using test::check_error;
using test::max_difference;

namespace {

constexpr std::int64_t kContext = 11;

nn::GPTOptions small(Placement placement = pre_ln()) {
  return {.vocab = 13,
          .context = kContext,
          .layers = 3,
          .placement = placement,
          .block = {.d_model = 8, .heads = 2, .dropout = 0.1}};
}

/// In eval mode, with weights large enough for tokens to affect each other.
nn::GPT model_of(const nn::GPTOptions& options) {
  const nn::GPT gpt(options);
  for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
  gpt.eval();
  return gpt;
}

/// All kinds of models.
std::vector<nn::GPT> models() {
  nn::GPTOptions gated = small(), untied = small(post_ln()), normless = small();
  gated.block.gated = true;
  gated.block.activation = nn::Activation::silu;
  untied.tied = false;
  untied.block.bias = false;
  normless.final_norm = false;
  normless.block.heads = 4;
  std::vector<nn::GPT> all;
  for (const nn::GPTOptions& options : {small(), small(post_ln()), gated, untied, normless})
    all.push_back(model_of(options));
  return all;
}

/// Logits of ids [B, T], passed to the model in pieces.
Tensor in_pieces(const nn::GPT& gpt, const Tensor& ids, const std::vector<std::int64_t>& pieces) {
  nn::KeyValueCache cache = gpt.new_cache(ids.size(0));
  std::vector<Tensor> logits;
  std::int64_t begin = 0;
  for (const std::int64_t size : pieces) {
    logits.push_back(gpt(ids.slice(1, begin, begin + size), cache));
    begin += size;
    REQUIRE(cache.length() == begin);
  }
  return cat(logits, 1);
}

}  // namespace

TEST_CASE("KeyValueCache: the logits of every position are those of the whole text, for any split") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    manual_seed(1);
    const double most = dtype == f32 ? 1e-5 : 1e-12;
    for (const nn::GPT& gpt : models())
      for (const std::int64_t batch : {1, 3}) {
        const Tensor ids = randint(0, 13, {batch, kContext});
        const Tensor whole = gpt(ids).detach();
        const double size = whole.abs().max().item();
        for (const std::vector<std::int64_t>& pieces :
             {std::vector<std::int64_t>{11}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {4, 1, 1, 5}, {1, 7, 2, 1}})
          CHECK(max_difference(in_pieces(gpt, ids, pieces), whole) < most * size);
      }
  }
}

TEST_CASE("KeyValueCache: next_logits are the last position's, and feed a sampling loop") {
  manual_seed(2);
  const nn::GPT gpt = model_of(small());
  const Tensor prompt = tensor({{3, 1, 4}, {1, 5, 9}});
  // [sampling]
  nn::KeyValueCache cache = gpt.new_cache(/*batch=*/2);
  Tensor ids = prompt, logits = gpt.next_logits(prompt, cache);  // [2, T] -> [2, V]: T rows of work
  for (int i = 0; i < 6; ++i) {
    const Tensor next = logits.argmax(-1, /*keepdim=*/true);
    ids = cat({ids, next}, 1);
    logits = gpt.next_logits(next, cache);  // [2, 1] -> [2, V]: one row
  }
  // [/sampling]
  CHECK(logits.shape() == Shape{2, 13});
  CHECK(max_difference(logits, gpt(ids).select(1, -1)) < 1e-5 * logits.abs().max().item());
  CHECK(cache.length() == 9);
  CHECK((ids == gpt.generate(prompt, 6, {.greedy = true})).all());
}

TEST_CASE("KeyValueCache: truncate goes back to a shorter text, clear to none") {
  manual_seed(3);
  const nn::GPT gpt = model_of(small(post_ln()));
  const Tensor ids = randint(0, 13, {1, 8});
  nn::KeyValueCache cache = gpt.new_cache();
  const Tensor first = gpt(ids, cache);
  cache.truncate(3);
  CHECK(cache.length() == 3);
  CHECK(max_difference(gpt(ids.slice(1, 3), cache), first.slice(1, 3)) < 1e-5 * first.abs().max().item());
  CHECK(cache.length() == 8);
  cache.clear();
  CHECK(cache.length() == 0);
  CHECK((gpt(ids, cache) == first).all());
  check_error([&] { cache.truncate(9); },
              "KeyValueCache: expects a length of 0 to 8, the positions it holds, got 9");
  check_error([&] { cache.truncate(-1); },
              "KeyValueCache: expects a length of 0 to 8, the positions it holds, got -1");
}

TEST_CASE("KeyValueCache: masks count the positions it holds among the keys") {
  manual_seed(4);
  const NoGrad no_grad;
  const nn::TransformerEncoder encoder({.layers = 2, .block = {.d_model = 8, .heads = 2, .causal = true}});
  const Tensor x = randn({2, 6, 8});
  const Tensor padding = tensor({{1, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}, boolean);
  const Tensor whole = encoder(x, {.key_padding_mask = padding});
  nn::KeyValueCache cache = encoder.new_cache(2, 6);
  const Tensor head = encoder(x.slice(1, 0, 4), {.key_padding_mask = padding.slice(1, 0, 4)}, &cache);
  CHECK(max_difference(head, whole.slice(1, 0, 4)) < 1e-5);
  check_error(
      [&] { encoder(x.slice(1, 4), {.key_padding_mask = padding.slice(1, 4)}, &cache); },
      "MultiheadAttention: expects key_padding_mask bool [2, 6] (true = padding), got bool [2, 2] (in "
      "layers.0.self_attn)");
  CHECK(cache.length() == 4);
  const Tensor tail = encoder(x.slice(1, 4), {.key_padding_mask = padding}, &cache);
  CHECK(max_difference(tail, whole.slice(1, 4)) < 1e-5);
}

TEST_CASE("KeyValueCache: an error in a late layer does not change it") {
  manual_seed(5);
  const NoGrad no_grad;
  nn::TransformerEncoder encoder({.layers = 2, .block = {.d_model = 8, .heads = 2, .causal = true}});
  const Tensor x = randn({1, 5, 8});
  const Tensor whole = encoder(x);
  nn::KeyValueCache cache = encoder.new_cache(1, 5);
  encoder(x.slice(1, 0, 2), {}, &cache);
  encoder.layers[1].parameter("self_attn.in_proj_weight").fill_(1);
  check_error([&] { encoder(x.slice(1, 2, 4), {}, &cache); },
              "KeyValueCache: the weights have changed since it was filled: clear() it");
  CHECK(cache.length() == 2);
  CHECK(cache.layer(0).length() == 2);
  cache.clear();
  const Tensor changed = encoder(x);
  CHECK(max_difference(encoder(x.slice(1, 0, 3), {}, &cache), changed.slice(1, 0, 3)) < 1e-5);
  CHECK(max_difference(encoder(x.slice(1, 3), {}, &cache), changed.slice(1, 3)) < 1e-5);
  CHECK(max_difference(changed, whole) > 0.1);
}

TEST_CASE("KeyValueCache: one attention alone; a probe sees its logits") {
  manual_seed(6);
  const NoGrad no_grad;
  const nn::MultiheadAttention attention({.d_model = 8, .heads = 2, .causal = true});
  const Tensor x = randn({2, 5, 8});
  const Tensor whole = attention(x);
  nn::KeyValues kept = attention.new_cache(2, 5);
  for (std::int64_t t = 0; t < 5; ++t)
    CHECK(max_difference(attention(x.slice(1, t, t + 1), {}, &kept), whole.slice(1, t, t + 1)) < 1e-5);

  const auto largest = [&](auto call) {
    const nn::TransformerEncoder encoder({.layers = 1, .block = {.d_model = 8, .heads = 2, .causal = true}});
    const nn::Probe probe;
    call(encoder);
    return probe.rows()[0].largest_logit;
  };
  manual_seed(7);
  const double want = largest([&](const auto& encoder) { encoder(x); });
  manual_seed(7);
  const double got = largest([&](const auto& encoder) {
    nn::KeyValueCache cache = encoder.new_cache(2, 5);
    encoder(x, {}, &cache);
  });
  CHECK(got == doctest::Approx(want));
}

TEST_CASE("GPT: generate samples the same tokens with and without a cache") {
  manual_seed(8);
  for (const nn::GPT& gpt : models())
    for (const Tensor& prompt : {tensor({5}), randint(0, 13, {3, 4}), randint(0, 13, {2, 15})})
      for (nn::GenerateOptions options :
           {nn::GenerateOptions{.greedy = true}, {.temperature = 0.7}, {.temperature = 3, .top_k = 4}})
        for (const std::int64_t slide : {1, 4, 11})
          for (const std::uint64_t seed : {0, 1}) {
            Generator a(seed), b(seed);
            options.slide = slide;
            options.generator = &a;
            options.cache = true;
            const Tensor with = gpt.generate(prompt, 25, options);
            options.generator = &b;
            options.cache = false;
            CHECK((with == gpt.generate(prompt, 25, options)).all());
          }
}

TEST_CASE("GPT: generate drops `slide` tokens at once when its context is full") {
  manual_seed(9);
  const nn::GPT gpt = model_of(small());
  for (const std::int64_t slide : {1, 3, 11}) {
    std::vector<std::int64_t> ids{3, 1};
    std::size_t begin = 0;
    for (int i = 0; i < 30; ++i) {
      while (ids.size() - begin > kContext) begin += static_cast<std::size_t>(slide);
      const std::vector<std::int64_t> window(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
      const Tensor logits = gpt(from_vector(window, {1, static_cast<std::int64_t>(window.size())}));
      ids.push_back(static_cast<std::int64_t>(logits[0].select(0, -1).argmax().item()));
    }
    CHECK(gpt.generate(tensor({3, 1}), 30, {.greedy = true, .slide = slide}).to_vector<std::int64_t>() ==
          ids);
  }
  check_error([&] { gpt.generate(tensor({1}), 1, {.slide = 0}); },
              "GPT: generate expects slide from 1 to 11, its context, got 0");
  check_error([&] { gpt.generate(tensor({1}), 1, {.slide = 12}); },
              "GPT: generate expects slide from 1 to 11, its context, got 12");
}

TEST_CASE("KeyValueCache: a token costs one row, and no memory leaks") {
  const nn::GPT gpt = model_of(small());
  nn::KeyValueCache cache = gpt.new_cache();
  const Tensor ids = zeros({1, 1}, i64);
  gpt.next_logits(ids, cache);
  const std::int64_t live = memory_stats().live_bytes, nodes = live_nodes();
  for (int i = 0; i < 9; ++i) gpt.next_logits(ids, cache);
  CHECK(memory_stats().live_bytes == live);
  CHECK(live_nodes() == nodes);
}

TEST_CASE("KeyValueCache: a copy is independent") {
  manual_seed(11);
  const nn::GPT gpt = model_of(small());
  const Tensor prompt = tensor({{3, 1, 4}}), a = tensor({{1}}), b = tensor({{5}}), next = tensor({{2}});
  nn::KeyValueCache first = gpt.new_cache();
  gpt.next_logits(prompt, first);
  nn::KeyValueCache second = first;
  gpt.next_logits(a, first);
  gpt.next_logits(b, second);
  const auto alone = [&](const Tensor& token) {
    nn::KeyValueCache cache = gpt.new_cache();
    gpt.next_logits(prompt, cache);
    gpt.next_logits(token, cache);
    return gpt.next_logits(next, cache);
  };
  CHECK((gpt.next_logits(next, first) == alone(a)).all());
  CHECK((gpt.next_logits(next, second) == alone(b)).all());

  nn::KeyValueCache moved = std::move(second);
  CHECK(moved.length() == 5);
  check_error([&] { second.length(); },  // NOLINT
              "KeyValueCache: was moved from: assign it a new_cache()");
  check_error([&] { second.clear(); }, "KeyValueCache: was moved from: assign it a new_cache()");
  check_error([&] { gpt.next_logits(next, second); },
              "KeyValueCache: was moved from: assign it a new_cache()");
  second = moved;
  moved.clear();
  CHECK(second.length() == 5);
}

TEST_CASE("KeyValueCache: calls that do not fit it") {
  manual_seed(10);
  const nn::GPT gpt = model_of(small()), other = model_of(small());
  nn::KeyValueCache cache = gpt.new_cache(2);
  const Tensor ids = randint(0, 13, {2, 6});
  gpt(ids, cache);
  check_error([&] { other(ids.slice(1, 0, 2), cache); },
              "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  check_error([&] { gpt(ids.slice(0, 1).slice(1, 0, 2), cache); },
              "KeyValueCache: made for a batch of 2, got x [1, 2, 8] (in layers.0.self_attn)");
  check_error([&] { gpt(ids, cache); },
              "GPT: expects at most 11 tokens, its context, got ids [2, 6] after 6 in the cache: clear() it "
              "and pass the last tokens again");
  check_error(
      [&] {
        gpt.next_logits(tensor({1, 2}), cache);
      },
      "GPT: expects ids [B, T], got [2]: add a batch axis with .unsqueeze(0)");
  check_error(
      [&] {
        gpt.next_logits(zeros({2, 0}, i64), cache);
      },
      "GPT: next_logits expects ids [B, T] of at least one token, got [2, 0]");
  CHECK(cache.length() == 6);

  nn::GPTOptions options = small();
  options.layers = 2;
  nn::KeyValueCache shorter = model_of(options).new_cache();
  check_error([&] { gpt(ids, shorter); },
              "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  check_error([&] { gpt.new_cache(0); }, "KeyValueCache: expects batch of 1 or more, got 0");
  check_error([&] { nn::KeyValueCache({}, gpt); },
              "KeyValueCache: expects the keys and values of one layer or more");

  gpt.train();
  check_error([&] { gpt(ids.slice(1, 0, 1), cache); },
              "MultiheadAttention: expects eval mode with a cache, because dropout is 0.1: call eval() (in "
              "layers.0.self_attn)");
  gpt.eval();
  optim::SGD opt(gpt.parameters(), {.lr = 0.1});
  gpt.loss(ids, flip(ids, 1)).backward();
  opt.step();
  check_error([&] { gpt(ids.slice(1, 0, 1), cache); },
              "KeyValueCache: the weights have changed since it was filled: clear() it");
  cache.clear();
  CHECK(max_difference(gpt(ids, cache), gpt(ids)) < 1e-4);
}

TEST_CASE("KeyValueCache: attentions that do not support it") {
  const Tensor x = randn({1, 2, 8});
  const nn::MultiheadAttention both_ways({.d_model = 8, .heads = 2});
  nn::KeyValues kept = both_ways.new_cache(1, 4);
  check_error([&] { both_ways(x, {}, &kept); },
              "MultiheadAttention: expects causal = true with a cache: otherwise cached positions would have "
              "to see later ones");
  const nn::MultiheadAttention causal({.d_model = 8, .heads = 2, .causal = true});
  kept = causal.new_cache(1, 3);
  check_error([&] { causal(x, {}, &kept); },
              "MultiheadAttention: keys and values in a cache have no gradient: use the cache under NoGrad");
  const NoGrad no_grad;
  causal(x, {}, &kept);
  check_error([&] { causal(x, {}, &kept); },
              "KeyValueCache: holds 2 of 3 positions, those of x [1, 2, 8] do not fit: clear() it, or make a "
              "larger one");
  check_error([&] { causal(x.to(f64), {}, &kept); },
              "MultiheadAttention: expects x of f32, as are its parameters, got f64 [1, 2, 8]: convert with "
              ".to(f32)");
  check_error([&] { causal.new_cache(1, 0); }, "KeyValueCache: expects capacity of 1 or more, got 0");
}

TEST_CASE("positions: starting at any position") {
  const nn::LearnedPositions learned(5, 4);
  CHECK((learned(2, 3) == learned.weight.slice(0, 3, 5)).all());
  const nn::SinusoidalPositions waves(5, 4);
  CHECK((waves(3, 1) == waves.table.slice(0, 1, 4)).all());
  check_error([&] { learned(3, 3); },
              "LearnedPositions: expects at most 5 positions, its context, got 3 after 3");
  check_error([&] { waves(0, 6); },
              "SinusoidalPositions: expects at most 5 positions, its context, got 0 after 6");
}
