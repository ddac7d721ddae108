#include "gradus/nn/models/transformer.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;
using nn::Placement;
using nn::post_ln;
using nn::pre_ln;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::Tensors;

namespace {

nn::TransformerEncoder encoder_of(Placement placement, std::optional<bool> final_norm = {}) {
  return nn::TransformerEncoder({.layers = 2,
                                 .placement = placement,
                                 .block = {.d_model = 4, .heads = 2, .d_ff = 6},
                                 .final_norm = final_norm});
}

nn::TransformerDecoder decoder_of(Placement placement, std::optional<bool> final_norm = {}) {
  return nn::TransformerDecoder({.layers = 2,
                                 .placement = placement,
                                 .block = {.d_model = 4, .heads = 2, .d_ff = 6},
                                 .final_norm = final_norm});
}

std::vector<std::string> expected_keys(bool decoder, bool norm) {
  std::vector<std::string> keys;
  for (const char* const layer : {"layers.0.", "layers.1."}) {
    for (const char* const attention : {"self_attn.", "multihead_attn."}) {
      if (!decoder && attention == std::string("multihead_attn.")) continue;
      for (const char* const key :
           {"in_proj_weight [12, 4]", "in_proj_bias [12]", "out_proj.weight [4, 4]", "out_proj.bias [4]"})
        keys.push_back(std::string(layer) + attention + key);
    }
    for (const char* const key :
         {"linear1.weight [6, 4]", "linear1.bias [6]", "linear2.weight [4, 6]", "linear2.bias [4]",
          "norm1.weight [4]", "norm1.bias [4]", "norm2.weight [4]", "norm2.bias [4]"})
      keys.push_back(std::string(layer) + key);
    if (decoder)
      for (const char* const key : {"norm3.weight [4]", "norm3.bias [4]"})
        keys.push_back(std::string(layer) + key);
  }
  if (norm)
    for (const char* const key : {"norm.weight [4]", "norm.bias [4]"}) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("stacks: a Pre-LN stack owns the final norm, a Post-LN stack has none, unless told otherwise") {
  for (const auto& [placement, given, expected] : {std::tuple{pre_ln(), std::optional<bool>(), true},
                                                   {post_ln(), std::optional<bool>(), false},
                                                   {pre_ln(), std::optional(false), false},
                                                   {post_ln(), std::optional(true), true}}) {
    CHECK(encoder_of(placement, given).norm.has_value() == expected);
    CHECK(decoder_of(placement, given).norm.has_value() == expected);
    CHECK(keys_and_shapes(encoder_of(placement, given)) == expected_keys(false, expected));
    CHECK(keys_and_shapes(decoder_of(placement, given)) == expected_keys(true, expected));
  }
}

TEST_CASE("stacks: the blocks in order, then the final norm, once") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4}), memory = randn({2, 5, 4});
  const auto pre = encoder_of(pre_ln()), bare = encoder_of(pre_ln(), false);
  for (const auto& [name, w] : pre.named_parameters()) nn::init::normal_(w, 0, 0.5);
  bare.load_state_dict(pre.state_dict(), {.strict = false});
  const Tensor stream = (*pre.layers[1].as<nn::PreLNBlock>())((*pre.layers[0].as<nn::PreLNBlock>())(x));
  CHECK(max_difference(bare(x), stream) == 0);
  CHECK(max_difference(pre(x),
                       layer_norm(stream, pre.norm->parameter("weight"), pre.norm->parameter("bias"))) == 0);

  const auto post = encoder_of(post_ln()), twice = encoder_of(post_ln(), true);
  twice.load_state_dict(post.state_dict(), {.strict = false});
  const Tensor out = (*post.layers[1].as<nn::PostLNBlock>())((*post.layers[0].as<nn::PostLNBlock>())(x));
  CHECK(max_difference(post(x), out) == 0);
  CHECK(max_difference(twice(x), layer_norm(out)) < 1e-13);
  // Right out of a Post-LN stack: mean 0 and variance 1 at each position.
  CHECK(max_difference(post(x).mean(-1), zeros({2, 3})) < 1e-12);

  const auto decoder = decoder_of(pre_ln());
  const auto& first = *decoder.layers[0].as<nn::PreLNDecoderBlock>();
  const auto& second = *decoder.layers[1].as<nn::PreLNDecoderBlock>();
  CHECK(max_difference(decoder(x, memory), (*decoder.norm)(second(first(x, memory), memory))) == 0);
}

TEST_CASE("stacks: one file of weights for both placements, the final norm aside") {
  const auto pre = encoder_of(pre_ln());
  const auto post = encoder_of(post_ln(), true);
  post.load_state_dict(pre.state_dict());
  check_error([&] { encoder_of(post_ln()).load_state_dict(pre.state_dict()); },
              "load_state_dict: the state does not fit this TransformerEncoder:\n"
              "  unexpected: norm.weight, norm.bias");
}

TEST_CASE("stacks: gradients through encoder and decoder") {
  const DefaultDType f64_default(f64);
  for (const Placement& placement : {pre_ln(), post_ln()}) {
    const nn::Module model;
    const auto encoder = model.add("encoder", encoder_of(placement));
    const auto decoder = model.add("decoder", decoder_of(placement));
    const Tensor source = randn({1, 3, 4}), target = randn({1, 2, 4});
    check_module(model, {source, target}, [&](const Tensors& in) { return decoder(in[1], encoder(in[0])); });
  }
}

TEST_CASE("stacks: layers differ at the start and can be reached whatever their kind") {
  const auto encoder = encoder_of(post_ln());
  CHECK(max_difference(encoder.layers[0].parameter("linear2.weight"),
                       encoder.layers[1].parameter("linear2.weight")) > 0);
  const nn::PostLNBlock* const block = encoder.layers[1].as<nn::PostLNBlock>();
  REQUIRE(block != nullptr);
  CHECK(encoder.layers[1].as<nn::PreLNBlock>() == nullptr);
  CHECK(block->norm2.as<nn::LayerNorm>()->weight.node() == encoder.parameter("layers.1.norm2.weight").node());
  CHECK(std::string(block->self_attn.out_proj.path()) == "layers.1.self_attn.out_proj");
  CHECK(decoder_of(pre_ln()).layers[0].as<nn::PreLNDecoderBlock>()->norm3.kind() == "LayerNorm");
}

TEST_CASE("stacks: padding and causality hold through all layers") {
  const auto encoder = encoder_of(pre_ln());
  const Tensor x = randn({1, 4, 4});
  const Tensor changed = x.clone();
  changed.slice(1, 3) = randn({1, 1, 4});
  const nn::AttentionMasks masks{.key_padding_mask = tensor({{false, false, false, true}})};
  CHECK(max_difference(encoder(x, masks).slice(1, 0, 3), encoder(changed, masks).slice(1, 0, 3)) == 0);
  CHECK(max_difference(encoder(x).slice(1, 0, 3), encoder(changed).slice(1, 0, 3)) > 1e-4);
  const auto decoder = decoder_of(post_ln());
  CHECK(max_difference(decoder(x, x).slice(1, 0, 3), decoder(changed, x).slice(1, 0, 3)) == 0);
}

TEST_CASE("stacks: bad calls") {
  check_error([] { nn::TransformerEncoder({.block = {.d_model = 4, .heads = 2}}); },
              "TransformerEncoder: expects layers of 1 or more, got 0");
  check_error([] { nn::TransformerDecoder({.layers = -1}); },
              "TransformerDecoder: expects layers of 1 or more, got -1");
  check_error([] { nn::TransformerEncoder({.layers = 1, .block = {.d_model = 5, .heads = 2}}); },
              "TransformerEncoder: d_model 5 is not divisible by heads 2");
  check_error(
      [] {
        encoder_of(pre_ln())(zeros({1, 2, 3}));
      },
      "TransformerEncoder: expects x [B, T, 4], got [1, 2, 3]");
  check_error(
      [] {
        decoder_of(post_ln())(zeros({1, 2, 4}), zeros({2, 2, 4}));
      },
      "MultiheadAttention: x [1, 2, 4] and memory [2, 2, 4] have different batch sizes (in "
      "layers.0.multihead_attn)");
}
