// Attention with shared heads, windows, rotary positions and norms, and GPTs that use them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

const nn::MultiheadAttentionOptions kKinds[] = {
    {.d_model = 8, .heads = 4, .causal = true, .kv_heads = 2},
    {.d_model = 8, .heads = 4, .causal = true, .kv_heads = 1, .rope = RopeOptions{}},
    {.d_model = 8, .heads = 2, .causal = true, .window = 3, .alibi = true},
    {.d_model = 8,
     .heads = 2,
     .causal = true,
     .rope = RopeOptions{.pairs = RopePairs::neighbours},
     .qk_norm = true},
    {.d_model = 8,
     .heads = 2,
     .causal = true,
     .bias = false,
     .qk_norm = true,
     .v_norm = true,
     .norm = nn::make_norm<nn::RMSNorm>},
    {.d_model = 8,
     .heads = 4,
     .causal = true,
     .kv_heads = 2,
     .window = 2,
     .rope = RopeOptions{.base = 100, .channels = 2},
     .qk_norm = true},
    {.d_model = 8, .heads = 3, .causal = true, .head_dim = 2, .scale = 1},
    {.d_model = 8, .heads = 2, .causal = true, .bias = false, .qkv_bias = true, .head_dim = 6, .kv_heads = 1},
    {.d_model = 8, .heads = 2, .causal = true, .qkv_bias = false, .scale = -0.3}};

/// Written out, head by head.
Tensor by_hand(const nn::MultiheadAttention& attn, const nn::MultiheadAttentionOptions& o, const Tensor& x,
               const Tensor& memory) {
  const std::int64_t d = o.head_dim == 0 ? o.d_model / o.heads : o.head_dim;
  const std::int64_t kv = o.kv_heads == 0 ? o.heads : o.kv_heads;
  const auto project = [&](const Tensor& from, std::int64_t row) {
    const Tensor bias = attn.in_proj_bias.defined() ? attn.in_proj_bias.slice(0, row, row + d) : Tensor();
    return linear(from, attn.in_proj_weight.slice(0, row, row + d), bias);  // [B, T, d]
  };
  const auto turned = [&](const Tensor& y) { return o.rope ? rope(y, *o.rope) : y; };
  const Tensor distance = (arange(memory.size(1)) - arange(x.size(1)).unsqueeze(1)).to(x.dtype());
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < o.heads; ++h) {
    const std::int64_t shared = h / (o.heads / kv);
    Tensor q = project(x, h * d), k = project(memory, (o.heads + shared) * d),
           v = project(memory, (o.heads + kv + shared) * d);
    if (attn.q_norm) q = (*attn.q_norm)(q), k = (*attn.k_norm)(k);
    if (attn.v_norm) v = (*attn.v_norm)(v);
    Tensor s = matmul(turned(q), turned(k).transpose(1, 2)) *
               o.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
    if (o.alibi) s = s - distance.abs() * alibi_slopes(o.heads)[static_cast<std::size_t>(h)];
    if (o.causal) s = masked_fill(s, distance > 0, -INFINITY);
    if (o.window > 0) s = masked_fill(s, distance.abs() >= static_cast<double>(o.window), -INFINITY);
    heads.push_back(matmul(softmax(s, -1), v));
  }
  return attn.out_proj(cat(heads, -1));
}

}  // namespace

TEST_CASE("all kinds of attention: against heads written out, with gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 5, 8});
  for (const nn::MultiheadAttentionOptions& options : kKinds) {
    const nn::MultiheadAttention attn(options);
    randomize(attn);
    CHECK(max_difference(attn(x), by_hand(attn, options, x, x)) < 1e-12);
    CHECK(max_difference(attn(x, x), attn(x)) < 1e-12);
    CHECK(max_difference(attn.with_weights(x, x).first, attn(x)) < 1e-12);
    check_module(attn, {randn({1, 4, 8})}, [&](const Tensors& in) { return attn(in[0]); });
  }
}

TEST_CASE("all kinds of attention: with and without a cache, position by position") {
  for (const nn::MultiheadAttentionOptions& options : kKinds) {
    const nn::MultiheadAttention attn(options);
    randomize(attn);
    const Tensor x = randn({2, 9, 8});
    const NoGrad guard;
    const Tensor whole = attn(x);
    nn::KeyValues kept = attn.new_cache(2, 9);
    std::vector<Tensor> parts;
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{0, 4}, {4, 5}, {5, 6}, {6, 9}})
      parts.push_back(attn(x.slice(1, from, to), {}, &kept));
    CHECK(max_difference(cat(parts, 1), whole) < 1e-5);
  }
}

TEST_CASE("attention: keys and shapes of shared heads and norms") {
  CHECK(keys_and_shapes(nn::MultiheadAttention(kKinds[5])) ==
        std::vector<std::string>{"in_proj_weight [16, 8]", "in_proj_bias [16]", "out_proj.weight [8, 8]",
                                 "out_proj.bias [8]", "q_norm.weight [2]", "q_norm.bias [2]",
                                 "k_norm.weight [2]", "k_norm.bias [2]"});
}

TEST_CASE("attention: separate option for biases of queries, keys and values, heads of any width") {
  using Lines = std::vector<std::string>;
  CHECK(keys_and_shapes(nn::MultiheadAttention(kKinds[7])) ==
        Lines{"in_proj_weight [24, 8]", "in_proj_bias [24]", "out_proj.weight [8, 12]"});
  CHECK(keys_and_shapes(nn::MultiheadAttention(kKinds[8])) ==
        Lines{"in_proj_weight [24, 8]", "out_proj.weight [8, 8]", "out_proj.bias [8]"});
}

TEST_CASE("blocks: the last of every window_every blocks has the window") {
  const DefaultDType f64_default(f64);
  const nn::BlockOptions banded{.d_model = 4, .heads = 2, .causal = true, .window = 2};
  nn::BlockOptions alternating = banded;
  alternating.window_every = 2;
  const nn::TransformerEncoder model({.layers = 4, .block = alternating});
  randomize(model);
  Tensor h = randn({1, 6, 4});
  const Tensor x = h.clone();
  for (std::size_t i = 0; i < 4; ++i) {
    nn::BlockOptions block = banded;
    block.window = i % 2 == 1 ? 2 : 0;
    const nn::PreLNBlock same(block);
    same.copy_parameters_from(model.layers[i]);
    h = same(h);
  }
  CHECK(max_difference(model(x), (*model.norm)(h)) < 1e-12);
}

TEST_CASE("attention: qk_norm bounds the scores") {
  nn::MultiheadAttention attn({.d_model = 8, .heads = 2, .qk_norm = true});
  const Tensor x = randn({1, 6, 8}) * 1000.0;
  const nn::Probe probe;
  nn::TransformerEncoder encoder({.layers = 1, .block = {.d_model = 8, .heads = 2, .qk_norm = true}});
  encoder(x);
  CHECK(probe.rows()[0].largest_logit <= 2.01);  // |q| |k| / sqrt(D) = sqrt(D) sqrt(D) / sqrt(D)
}

TEST_CASE("attention: a cache detects a change of a norm it was made with") {
  const nn::MultiheadAttention attn({.d_model = 4, .heads = 2, .causal = true, .qk_norm = true});
  const NoGrad guard;
  nn::KeyValues kept = attn.new_cache(1, 4);
  const Tensor x = randn({1, 1, 4});
  attn(x, {}, &kept);
  attn.k_norm->parameter("weight").fill_(3);
  CHECK_THROWS_AS(attn(x, {}, &kept), Error);
}

TEST_CASE("attention: bad options") {
  CHECK_THROWS_WITH_AS(nn::MultiheadAttention({.d_model = 8, .heads = 4, .kv_heads = 3}),
                       "MultiheadAttention: expects kv_heads that divide heads 4, or 0 for as many, got 3",
                       Error);
  CHECK_THROWS_WITH_AS(nn::MultiheadAttention({.d_model = 8, .heads = 4, .kv_heads = -1}),
                       "MultiheadAttention: expects kv_heads that divide heads 4, or 0 for as many, got -1",
                       Error);
  CHECK_THROWS_WITH_AS(nn::MultiheadAttention({.d_model = 8, .heads = 4, .window = -2}),
                       "MultiheadAttention: expects a window of 1 or more, or 0 for none, got -2", Error);
  CHECK_THROWS_WITH_AS(
      nn::MultiheadAttention({.d_model = 8, .heads = 4, .head_dim = -1}),
      "MultiheadAttention: expects a head_dim of 1 or more, or 0 for d_model / heads, got -1", Error);
  CHECK_THROWS_WITH_AS(nn::PreLNBlock({.d_model = 8, .heads = 4, .window_every = 0}),
                       "PreLNBlock: expects window_every of 1 or more, got 0", Error);
  CHECK_THROWS_WITH_AS(nn::MultiheadAttention({.d_model = 8, .heads = 4, .eps = -1}),
                       "MultiheadAttention: expects eps of 0 or more, got -1", Error);
  const auto with_rope = [](const RopeOptions& rope, std::int64_t head_dim = 0) {
    nn::MultiheadAttention({.d_model = 8, .heads = 2, .head_dim = head_dim, .rope = rope});
  };
  const std::string channels = "MultiheadAttention: rope expects an even number of channels, at most the ";
  check_error([&] { with_rope({.channels = 6}); }, channels + "4 of a head, got 6");
  check_error([&] { with_rope({.channels = 3}); }, channels + "4 of a head, got 3");
  check_error([&] { with_rope({.channels = -2}); }, channels + "4 of a head, got -2");
  check_error([&] { with_rope({}, 5); }, channels + "5 of a head, got 5");
  for (const double base : {0.0, -1.0})
    check_error([&] { with_rope({.base = base}); },
                fmt::format("MultiheadAttention: rope expects a base above 0, got {}", base));
  check_error([&] { with_rope({.offset = -1}); },
              "MultiheadAttention: rope expects an offset of 0 or more, got -1");
}

TEST_CASE("GPT: every kind of positions, with gradients, cache, threads") {
  using nn::Positions;
  const Tensor ids = randint(0, 7, {2, 8}), targets = randint(0, 7, {2, 8});
  for (const Positions positions : {Positions::learned, Positions::sinusoidal, Positions::rotary,
                                    Positions::alibi, Positions::relative, Positions::none}) {
    CAPTURE(static_cast<int>(positions));
    const nn::GPT gpt(
        {.vocab = 7, .context = 9, .layers = 2, .block = {.d_model = 8, .heads = 2}, .positions = positions});
    randomize(gpt);
    const Tensor whole = gpt(ids);
    nn::KeyValueCache cache = gpt.new_cache(2);
    const Tensor pieces = cat({gpt(ids.slice(1, 0, 5), cache), gpt(ids.slice(1, 5, 8), cache)}, 1);
    CHECK(max_difference(whole, pieces) < 1e-4);
    const Tensor prompt = ids.slice(1, 0, 3);
    CHECK(gpt.generate(prompt, 12, {.greedy = true}).to_vector<std::int64_t>() ==
          gpt.generate(prompt, 12, {.greedy = true, .cache = false}).to_vector<std::int64_t>());
    // The output depends on the order of earlier tokens: one layer of attention without positions could not
    // see it.
    const Tensor swapped = cat({ids.slice(1, 1, 2), ids.slice(1, 0, 1), ids.slice(1, 2)}, 1);
    const nn::GPT one(
        {.vocab = 7, .context = 9, .layers = 1, .block = {.d_model = 8, .heads = 2}, .positions = positions});
    randomize(one);
    const double moved = max_difference(one(ids).select(1, -1), one(swapped).select(1, -1));
    if (positions == Positions::none)
      CHECK(moved < 1e-5);
    else
      CHECK(moved > 1e-4);
  }
}

TEST_CASE("GPT: gradients of relative and rotary positions") {
  const DefaultDType f64_default(f64);
  const Tensor ids = tensor({{0, 2, 1}}), targets = tensor({{2, 1, 0}});
  for (const nn::Positions positions : {nn::Positions::relative, nn::Positions::rotary}) {
    const nn::GPT gpt({.vocab = 3,
                       .context = 4,
                       .layers = 1,
                       .block = {.d_model = 4, .heads = 2, .d_ff = 4},
                       .positions = positions});
    randomize(gpt);
    if (gpt.relative_bias)  // distances that do not occur have no gradient: give all of them one
      check_module(gpt, {}, [&](const Tensors&) {
        return gpt.loss(ids, targets) + (gpt.relative_bias->weight * 0.01).sum();
      });
    else
      check_module(gpt, {}, [&](const Tensors&) { return gpt.loss(ids, targets); });
  }
}

}  // namespace gradus::test
