// The initial values that placements set themselves.

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

double deviation(const Tensor& w) { return w.detach().to(f64).std().item(); }

/// Standard deviation of Xavier normal weights.
double xavier(double out, double in, double gain = 1) { return gain * std::sqrt(2 / (in + out)); }

}  // namespace

TEST_CASE("DeepNorm: initial weights are Xavier normal, smaller by beta but for queries and keys") {
  manual_seed(1);
  constexpr double C = 128, F = 512;
  const nn::BlockOptions block{.d_model = 128, .heads = 2};
  const auto expect = [&](const nn::Module& stack, const std::string& attention, double beta) {
    const Tensor qkv = stack.parameter("layers.1." + attention + ".in_proj_weight");
    CHECK(deviation(qkv.slice(0, 0, 128)) == near(xavier(C, C), 0.02));
    CHECK(deviation(qkv.slice(0, 128, 256)) == near(xavier(C, C), 0.02));
    CHECK(deviation(qkv.slice(0, 256)) == near(xavier(C, C, beta), 0.02));
    CHECK(deviation(stack.parameter("layers.1." + attention + ".out_proj.weight")) ==
          near(xavier(C, C, beta), 0.02));
    CHECK(deviation(stack.parameter("layers.1.linear1.weight")) == near(xavier(F, C, beta), 0.02));
    CHECK(deviation(stack.parameter("layers.1.linear2.weight")) == near(xavier(F, C, beta), 0.02));
    CHECK(stack.parameter("layers.1.linear1.bias").abs().max().item() < 0.1);
  };
  expect(nn::TransformerEncoder({.layers = 6, .placement = nn::deep_norm(), .block = block}), "self_attn",
         std::pow(8.0 * 6, -0.25));
  const nn::GPT gpt({.vocab = 9, .context = 4, .layers = 3, .placement = nn::deep_norm(), .block = block});
  expect(gpt, "self_attn", std::pow(8.0 * 3, -0.25));
  const nn::Placement both = nn::deep_norm({.encoder_layers = 4, .decoder_layers = 2});
  expect(nn::TransformerEncoder({.layers = 4, .placement = both, .block = block}), "self_attn",
         0.87 * std::pow(std::pow(4.0, 4) * 2, -1.0 / 16));
  const nn::TransformerDecoder decoder({.layers = 2, .placement = both, .block = block});
  expect(decoder, "self_attn", std::pow(12.0 * 2, -0.25));
  expect(decoder, "multihead_attn", std::pow(12.0 * 2, -0.25));
}

TEST_CASE("DeepNorm: heads that share values, and heads of another width") {
  manual_seed(1);
  const nn::TransformerEncoder stack({.layers = 2,
                                      .placement = nn::deep_norm(),
                                      .block = {.d_model = 128, .heads = 4, .head_dim = 64, .kv_heads = 2}});
  const Tensor qkv = stack.parameter("layers.0.self_attn.in_proj_weight");  // 256 + 128 + 128 rows
  CHECK(deviation(qkv.slice(0, 0, 256)) == near(xavier(256, 128), 0.02));
  CHECK(deviation(qkv.slice(0, 256, 384)) == near(xavier(128, 128), 0.02));
  CHECK(deviation(qkv.slice(0, 384)) == near(xavier(128, 128, std::pow(16.0, -0.25)), 0.02));
}

TEST_CASE(
    "ReZero: at the start a stack is the identity, and the first step moves the branches' weights' gates") {
  const nn::TransformerEncoder encoder(
      {.layers = 3, .placement = nn::rezero(), .block = {.d_model = 4, .heads = 2}});
  const Tensor x = randn({2, 3, 4});
  const Tensor y = encoder(x);
  CHECK(max_difference(y, x) == 0);
  (y * randn_like(y)).sum().backward();
  CHECK(encoder.parameter("layers.2.norm2.alpha").grad().item() != 0);
  CHECK(encoder.parameter("layers.2.linear2.weight").grad().abs().max().item() == 0);
}

TEST_CASE("Admin: profiling sets each shortcut to the size of the input and all branches before") {
  const DefaultDType f64_default(f64);
  struct Case {
    std::string norm;
    double input;  // its standard deviation
  };
  // The input of a GPT is small, and the norm's eps shows; DyT returns no variance of 1.
  for (const Case& one : {Case{"layer", 3}, Case{"layer", 0.03}, Case{"dyt", 0.03}}) {
    CAPTURE(one.norm);
    CAPTURE(one.input);
    manual_seed(2);
    const nn::TransformerEncoder encoder(
        {.layers = 3,
         .placement = nn::admin(),
         .block = {.d_model = 6, .heads = 2, .norm = nn::norm_named(one.norm).make}});
    const Tensor x = one.input * randn({5, 4, 6});
    CHECK(encoder.parameter("layers.2.norm1.shortcut").min().item() == 1);
    CHECK(nn::prepare_(encoder, [&] { encoder(x); }));

    // The same by hand: x w + f(x) with w^2 = Var[x_0] + Var[f_1] + ... of the branches before.
    const auto var = [](const Tensor& t) { return t.var({}, {.unbiased = false}).item(); };
    double w = 1, sum = var(x);
    Tensor h = x;
    for (int i = 0; i < 3; ++i) {
      const auto& b = *encoder.layers[static_cast<std::size_t>(i)].as<nn::Block<nn::Admin>>();
      for (int j = 0; j < 2; ++j) {
        const nn::Admin& a = j == 0 ? b.residual1 : b.residual2;
        CHECK(a.shortcut.max().item() == near(w, 1e-9));
        CHECK(a.shortcut.min().item() == a.shortcut.max().item());
        const Tensor f = j == 0 ? b.self_attn(h) : b.ffn(h);
        w = std::sqrt(sum += var(f));
        h = a.norm(h * a.shortcut + f);
      }
    }
    CHECK(encoder.parameter("layers.0.norm1.shortcut").requires_grad());
  }
}

TEST_CASE("Admin: profiling counts stacks apart, and expects one pass of one model") {
  const DefaultDType f64_default(f64);
  manual_seed(2);
  const nn::BlockOptions block{.d_model = 6, .heads = 2};
  const nn::TransformerEncoder encoder({.layers = 3, .placement = nn::admin(), .block = block});
  const Tensor x = 3 * randn({5, 4, 6});
  // Two stacks are counted apart; models without Admin stay as they are; a failure leaves nothing behind.
  const nn::TransformerDecoder decoder({.layers = 2, .placement = nn::admin(), .block = block});
  struct Both : nn::Module {
    nn::TransformerEncoder encoder;
    nn::TransformerDecoder decoder;
    Both(const nn::TransformerEncoder& e, const nn::TransformerDecoder& d)
        : encoder(add("encoder", e)), decoder(add("decoder", d)) {}
  } both(encoder, decoder);
  CHECK(nn::profile_admin_([&] { both.decoder(x, both.encoder(x)); }) == 12);
  CHECK(both.parameter("decoder.layers.0.norm1.shortcut").max().item() == 1);
  const nn::TransformerEncoder other({.layers = 1, .block = block});
  CHECK(nn::profile_admin_([&] { other(x); }) == 0);
  CHECK_FALSE(nn::prepare_(other, [&] { fail("needs no batch"); }));
  CHECK_THROWS_AS(nn::profile_admin_([&] { fail("no batch"); }), Error);
  // What would mix two measurements: two batches, or two models, whose stacks have the same names.
  const nn::TransformerEncoder one({.layers = 3, .placement = nn::admin(), .block = block}),
      two({.layers = 3, .placement = nn::admin(), .block = block});
  for (const nn::TransformerEncoder& second : {one, two})
    CHECK_THROWS_WITH_AS(
        nn::profile_admin_([&] { one(x), second(x); }),
        doctest::Contains("Admin: layers.0.norm1 was run twice: expects forward() to run one model "
                          "once, on one batch"),
        Error);
  CHECK(two.parameter("layers.0.norm1.shortcut").max().item() == 1);
  CHECK(nn::profile_admin_([&] { one(x); }) == 6);
  const Tensor before = encoder.parameter("layers.1.norm1.shortcut").detach().clone();
  encoder(5 * x);
  CHECK(max_difference(before, encoder.parameter("layers.1.norm1.shortcut")) == 0);
}

TEST_CASE("Admin: prepare_() takes any model") {
  manual_seed(4);
  const nn::BlockOptions block{.d_model = 6, .heads = 2};
  const Tensor ids = randint(3, 9, {2, 4}), next = randint(3, 9, {2, 4});
  const auto moved = [](const nn::Module& model, const std::string& shortcut) {
    return model.parameter(shortcut).max().item() > 1;
  };
  const nn::Seq2SeqTransformer translator(
      {.vocab = 9, .encoder_layers = 1, .decoder_layers = 1, .placement = nn::admin(), .block = block});
  CHECK(nn::prepare_(translator, [&] { translator.loss(ids, next); }));
  CHECK(moved(translator, "encoder.layers.0.norm2.shortcut"));
  CHECK(moved(translator, "decoder.layers.0.norm3.shortcut"));
  const nn::Bert bert({.vocab = 9, .context = 4, .layers = 1, .placement = nn::admin(), .block = block});
  CHECK(nn::prepare_(bert, [&] { bert(ids); }));
  CHECK(moved(bert, "layers.0.norm2.shortcut"));
}

TEST_CASE("Pre-LN's stream grows at the start, OLMo 2's with the depth alone, ReZero's not at all") {
  manual_seed(3);
  const Tensor x = randn({4, 8, 64});
  const auto growth = [&](const nn::Placement& placement) {
    const nn::TransformerEncoder encoder({.layers = 12,
                                          .placement = placement,
                                          .block = {.d_model = 64, .heads = 4},
                                          .final_norm = placement.leave ? std::optional<bool>{} : false});
    return (encoder(x).pow(2).mean() / x.pow(2).mean()).item();
  };
  CHECK(growth(nn::pre_ln()) > 1.5);
  CHECK(growth(nn::olmo2()) > 12);  // 24 branches of variance 1
  CHECK(growth(nn::peri_ln()) > 12);
  CHECK(growth(nn::rezero()) == 1);
  CHECK(growth(nn::post_ln()) < 1.1);
  CHECK(growth(nn::ln_scaling()) < growth(nn::pre_ln()));
}

}  // namespace gradus::test
