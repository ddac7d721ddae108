// The four blocks against their equations written out with plain ops, on weights loaded from one state dict.

#include "gradus/nn/transformer/block.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::randomize;
using test::Tensors;
using Lines = std::vector<std::string>;

namespace {

/// The sublayers by their formulas, from nothing but named weights.
struct Reference {
  StateDict w;
  std::int64_t heads;
  bool causal = false;

  Tensor norm(const std::string& name, const Tensor& x) const {
    const Tensor centred = x - x.mean(-1, true);
    const Tensor variance = centred.square().mean(-1, true);
    return centred / (variance + 1e-5).sqrt() * w.at(name + ".weight") + w.at(name + ".bias");
  }

  Tensor attention(const std::string& name, const Tensor& x, const Tensor& memory, bool masked) const {
    const std::int64_t e = x.size(-1), d = e / heads;
    const auto project = [&](const Tensor& in, std::int64_t i) {
      return matmul(in, w.at(name + ".in_proj_weight").slice(0, i * e, (i + 1) * e).t()) +
             w.at(name + ".in_proj_bias").slice(0, i * e, (i + 1) * e);
    };
    const Tensor q = project(x, 0), k = project(memory, 1), v = project(memory, 2);
    std::vector<Tensor> outputs;
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto head = [&](const Tensor& t) { return t.slice(-1, h * d, (h + 1) * d); };
      Tensor scores = matmul(head(q), head(k).transpose(1, 2)) / std::sqrt(static_cast<double>(d));
      if (masked) scores = masked_fill(scores, triu(ones(scores.shape()), 1) == 1, -INFINITY);
      outputs.push_back(matmul(exp(scores - logsumexp(scores, -1, true)), head(v)));
    }
    return matmul(cat(outputs, -1), w.at(name + ".out_proj.weight").t()) + w.at(name + ".out_proj.bias");
  }

  Tensor ffn(const Tensor& x) const {
    const Tensor h = matmul(x, w.at("linear1.weight").t()) + w.at("linear1.bias");
    return matmul(maximum(h, zeros_like(h)), w.at("linear2.weight").t()) + w.at("linear2.bias");
  }

  Tensor pre(const Tensor& x) const {
    const Tensor n = norm("norm1", x);
    const Tensor h = x + attention("self_attn", n, n, causal);
    return h + ffn(norm("norm2", h));
  }
  Tensor post(const Tensor& x) const {
    const Tensor h = norm("norm1", x + attention("self_attn", x, x, causal));
    return norm("norm2", h + ffn(h));
  }
  Tensor pre(const Tensor& x, const Tensor& memory) const {
    const Tensor n = norm("norm1", x);
    const Tensor h = x + attention("self_attn", n, n, causal);
    const Tensor g = h + attention("multihead_attn", norm("norm2", h), memory, false);
    return g + ffn(norm("norm3", g));
  }
  Tensor post(const Tensor& x, const Tensor& memory) const {
    const Tensor h = norm("norm1", x + attention("self_attn", x, x, causal));
    const Tensor g = norm("norm2", h + attention("multihead_attn", h, memory, false));
    return norm("norm3", g + ffn(g));
  }
};

const nn::BlockOptions kSmall{.d_model = 4, .heads = 2, .d_ff = 6};

}  // namespace

TEST_CASE("blocks: keys are those of PyTorch's nn.TransformerEncoderLayer, the same for both") {
  const Lines keys{"self_attn.in_proj_weight [12, 4]",
                   "self_attn.in_proj_bias [12]",
                   "self_attn.out_proj.weight [4, 4]",
                   "self_attn.out_proj.bias [4]",
                   "linear1.weight [6, 4]",
                   "linear1.bias [6]",
                   "linear2.weight [4, 6]",
                   "linear2.bias [4]",
                   "norm1.weight [4]",
                   "norm1.bias [4]",
                   "norm2.weight [4]",
                   "norm2.bias [4]"};
  CHECK(keys_and_shapes(nn::PreLNBlock(kSmall)) == keys);
  CHECK(keys_and_shapes(nn::PostLNBlock(kSmall)) == keys);
  CHECK(keys_and_shapes(nn::PreLNBlock({.d_model = 4, .heads = 1, .gated = true, .bias = false})) ==
        Lines{"self_attn.in_proj_weight [12, 4]", "self_attn.out_proj.weight [4, 4]",
              "linear1.weight [16, 4]", "linear2.weight [4, 16]", "linear3.weight [16, 4]",
              "norm1.weight [4]", "norm2.weight [4]"});
}

TEST_CASE("decoder blocks: keys are those of PyTorch's nn.TransformerDecoderLayer, the same for both") {
  const nn::BlockOptions options{.d_model = 4, .heads = 2, .d_ff = 6};
  const Lines keys{"self_attn.in_proj_weight [12, 4]",
                   "self_attn.in_proj_bias [12]",
                   "self_attn.out_proj.weight [4, 4]",
                   "self_attn.out_proj.bias [4]",
                   "multihead_attn.in_proj_weight [12, 4]",
                   "multihead_attn.in_proj_bias [12]",
                   "multihead_attn.out_proj.weight [4, 4]",
                   "multihead_attn.out_proj.bias [4]",
                   "linear1.weight [6, 4]",
                   "linear1.bias [6]",
                   "linear2.weight [4, 6]",
                   "linear2.bias [4]",
                   "norm1.weight [4]",
                   "norm1.bias [4]",
                   "norm2.weight [4]",
                   "norm2.bias [4]",
                   "norm3.weight [4]",
                   "norm3.bias [4]"};
  CHECK(keys_and_shapes(nn::PreLNDecoderBlock(options)) == keys);
  CHECK(keys_and_shapes(nn::PostLNDecoderBlock(options)) == keys);
}

TEST_CASE("blocks: one state dict, two equations") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 5, 4});
  for (const bool causal : {false, true}) {
    nn::BlockOptions options = kSmall;
    options.causal = causal;
    const nn::PreLNBlock pre(options);
    const nn::PostLNBlock post(options);
    randomize(pre);
    post.load_state_dict(pre.state_dict());
    const Reference reference{pre.state_dict(), 2, causal};
    CHECK(max_difference(pre(x), reference.pre(x)) < 1e-12);
    CHECK(max_difference(post(x), reference.post(x)) < 1e-12);
    CHECK(max_difference(pre(x), post(x)) > 0.1);
  }
}

TEST_CASE("decoder blocks: one state dict, two equations") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 5, 4}), memory = randn({2, 3, 4});
  for (const bool causal : {true, false}) {
    const nn::BlockOptions options{.d_model = 4, .heads = 2, .d_ff = 6, .causal = causal};
    const nn::PreLNDecoderBlock pre(options);
    const nn::PostLNDecoderBlock post(options);
    randomize(pre);
    post.load_state_dict(pre.state_dict());
    const Reference reference{pre.state_dict(), 2, causal};
    CHECK(max_difference(pre(x, memory), reference.pre(x, memory)) < 1e-12);
    CHECK(max_difference(post(x, memory), reference.post(x, memory)) < 1e-12);
  }
}

TEST_CASE("blocks: gradients") {
  const DefaultDType f64_default(f64);
  const nn::PreLNBlock pre(kSmall);
  const nn::PostLNBlock post(
      {.d_model = 4, .heads = 2, .d_ff = 6, .activation = nn::Activation::gelu, .causal = true});
  randomize(pre);
  randomize(post);
  const Tensor x = randn({2, 3, 4});
  check_module(pre, {x}, [&](const Tensors& in) { return pre(in[0]); });
  check_module(post, {x}, [&](const Tensors& in) { return post(in[0]); });
}

TEST_CASE("decoder blocks: gradients") {
  const DefaultDType f64_default(f64);
  const nn::BlockOptions options{.d_model = 4, .heads = 2, .d_ff = 3, .gated = true};
  const nn::PreLNDecoderBlock pre(options);
  const nn::PostLNDecoderBlock post(options);
  randomize(pre);
  randomize(post);
  const Tensor x = randn({1, 3, 4}), memory = randn({1, 2, 4});
  check_module(pre, {x, memory}, [&](const Tensors& in) { return pre(in[0], in[1]); });
  check_module(post, {x, memory}, [&](const Tensors& in) { return post(in[0], in[1]); });
}

TEST_CASE("blocks: only a Pre-LN block passes x through untouched") {
  const nn::PreLNBlock pre(kSmall);
  const nn::PostLNBlock post(kSmall);
  for (const nn::Module& block : {nn::Module(pre), nn::Module(post)})
    for (const char* const name :
         {"self_attn.out_proj.weight", "self_attn.out_proj.bias", "linear2.weight", "linear2.bias"})
      nn::init::zeros_(block.parameter(name));
  const Tensor x = randn({1, 3, 4}) * 5 + 2;
  CHECK(max_difference(pre(x), x) == 0);
  CHECK(max_difference(post(x), layer_norm(layer_norm(x))) < 1e-5);
}

TEST_CASE("blocks: masks reach the attention they are meant for") {
  const Tensor x = randn({2, 4, 4}), memory = randn({2, 4, 4});
  const Tensor padding = tensor({{false, false, false, true}, {false, false, false, true}});
  const nn::PreLNBlock block(kSmall);
  const Tensor changed = x.clone();
  changed.slice(1, 3) = randn({2, 1, 4});
  CHECK(max_difference(block(x, {.key_padding_mask = padding}).slice(1, 0, 3),
                       block(changed, {.key_padding_mask = padding}).slice(1, 0, 3)) == 0);
  CHECK(max_difference(block(x).slice(1, 0, 3), block(changed).slice(1, 0, 3)) > 1e-4);

  const nn::PreLNDecoderBlock decoder({.d_model = 4, .heads = 2});
  const Tensor other = memory.clone();
  other.slice(1, 3) = randn({2, 1, 4});
  const nn::DecoderMasks masks{.memory = {.key_padding_mask = padding}};
  CHECK(max_difference(decoder(x, memory, masks), decoder(x, other, masks)) == 0);
  CHECK(max_difference(decoder(x, memory), decoder(x, other)) > 1e-4);
  // Causal over x, not over memory: the first position sees all of memory and nothing later of x.
  CHECK(max_difference(decoder(changed, memory).slice(1, 0, 3), decoder(x, memory).slice(1, 0, 3)) == 0);
  CHECK(max_difference(decoder(x, other).slice(1, 0, 1), decoder(x, memory).slice(1, 0, 1)) > 1e-4);
}

TEST_CASE("blocks: dropout acts in training only") {
  nn::BlockOptions options = kSmall;
  options.dropout = 0.5;
  const nn::PreLNBlock block(options), plain(kSmall);
  plain.copy_parameters_from(block);
  const Tensor x = randn({2, 3, 4});
  CHECK(max_difference(block(x), block(x)) > 0);
  block.eval();
  CHECK(max_difference(block(x), plain(x)) == 0);
}

TEST_CASE("blocks: bad calls name the layer") {
  const nn::Module net;
  const nn::PreLNBlock pre = net.add("block", nn::PreLNBlock(kSmall));
  const nn::PostLNBlock post = net.add("post", nn::PostLNBlock(kSmall));
  const nn::PreLNDecoderBlock decoder({.d_model = 4, .heads = 2});
  check_error([&] { pre(zeros({2, 3, 5})); }, "PreLNBlock: expects x [B, T, 4], got [2, 3, 5] (in block)");
  check_error(
      [&] {
        pre(zeros({3, 4}));
      },
      "PreLNBlock: expects x [B, T, 4], got [3, 4]: add a batch axis with .unsqueeze(0) (in block)");
  check_error([&] { post(zeros({2, 3, 5})); }, "PostLNBlock: expects x [B, T, 4], got [2, 3, 5] (in post)");
  check_error(
      [&] {
        pre(zeros({2, 3, 4}), {.key_padding_mask = zeros({3, 2}, boolean)});
      },
      "MultiheadAttention: expects key_padding_mask bool [2, 3] (true = padding), got bool [3, 2] (in "
      "block.self_attn)");
  check_error(
      [&] {
        decoder(zeros({2, 3, 4}), zeros({2, 3, 6}));
      },
      "PreLNDecoderBlock: expects memory [B, T, 4], got [2, 3, 6]");
  check_error([] { nn::PreLNBlock({.d_model = 6, .heads = 4}); },
              "PreLNBlock: d_model 6 is not divisible by heads 4");
  check_error([] { nn::PostLNBlock({.d_model = 4, .heads = 2, .d_ff = -3}); },
              "PostLNBlock: expects d_ff of 1 or more, got -3");
  check_error([] { nn::PostLNDecoderBlock({.d_model = 4, .heads = 2, .dropout = -1}); },
              "PostLNDecoderBlock: expects dropout from 0 to 1, got -1");
}
