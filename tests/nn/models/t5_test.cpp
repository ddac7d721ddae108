// T5: sizes, initial values, dropout; tests/golden compares its results.

#include "gradus/nn/models/t5.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

nn::T5Options small_t5() {
  return {.vocab = 50,
          .d_model = 32,
          .d_kv = 6,
          .d_ff = 48,
          .heads = 4,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .dropout = 0};
}

/// Without making it.
std::int64_t parameters_of(const nn::T5Options& o) {
  const std::int64_t inner = o.heads * o.d_kv, attention = 4 * o.d_model * inner;
  const std::int64_t ffn = (o.gated ? 3 : 2) * o.d_model * o.d_ff;
  const std::int64_t encoder = o.encoder_layers * (attention + ffn + 2 * o.d_model);
  const std::int64_t decoder = o.decoder_layers * (2 * attention + ffn + 3 * o.d_model);
  return encoder + decoder + 2 * o.d_model + 2 * o.buckets * o.heads + (o.tied ? 1 : 2) * o.vocab * o.d_model;
}

}  // namespace

TEST_CASE("T5: the published sizes") {
  CHECK(parameters_of(nn::t5("small")) == 60'506'624);
  CHECK(parameters_of(nn::t5("base")) == 222'903'552);
  CHECK(parameters_of(nn::t5("large")) == 737'668'096);
  CHECK(parameters_of(nn::t5_v1_1("small")) == 76'961'152);
  CHECK(parameters_of(nn::t5_v1_1("base")) == 247'577'856);
  CHECK(parameters_of(nn::t5_v1_1("large")) == 783'150'080);
  for (nn::T5Options o : {small_t5(), nn::t5_v1_1("small")}) {
    o.vocab = 60;
    CHECK(nn::T5(o).num_parameters() == parameters_of(o));
  }
  check_error([] { nn::t5("tiny"); },
              "t5: there is no size 'tiny': expects one of small, base, large, 3b, 11b");
  check_error([] { nn::t5_v1_1("3b"); },
              "t5_v1_1: there is no size '3b': expects one of small, base, large, xl, xxl");
}

TEST_CASE("T5: initial values, with any placement") {
  manual_seed(2);
  for (const bool gated : {false, true}) {
    nn::T5Options options = small_t5();
    options.d_model = 64;
    options.gated = gated;
    options.tied = !gated;
    const nn::T5 model(options);
    const auto std_of = [](const Tensor& w) { return w.to(f64).std().item(); };
    CHECK(std_of(model.embedding.weight) == near(1, 0.06));
    const Tensor in = model.parameter("decoder.layers.1.multihead_attn.in_proj_weight");
    CHECK(std_of(in.slice(0, 0, 24)) == near(1 / std::sqrt(64.0 * 6), 0.06));
    CHECK(std_of(in.slice(0, 24)) == near(1 / std::sqrt(64.0), 0.06));
    CHECK(std_of(model.parameter("encoder.layers.0.self_attn.out_proj.weight")) ==
          near(1 / std::sqrt(24.0), 0.06));
    CHECK(std_of(model.parameter("encoder.layers.0.linear2.weight")) == near(1 / std::sqrt(48.0), 0.06));
    CHECK(std_of(model.decoder_bias->weight) == near(1 / 8.0, 0.2));
    CHECK(model.head.has_value() == gated);
  }
  nn::T5Options zero = small_t5();
  zero.placement = nn::rezero();
  CHECK(nn::T5(zero).parameter("decoder.layers.1.norm3.alpha").item() == 0);
}

TEST_CASE("T5: gradients, in f64") {
  const DefaultDType floats(f64);
  for (const bool gated : {false, true}) {
    manual_seed(3);
    nn::T5Options options{.vocab = 5,
                          .d_model = 4,
                          .d_kv = 3,
                          .d_ff = 5,
                          .heads = 2,
                          .encoder_layers = 1,
                          .decoder_layers = 1,
                          .gated = gated,
                          .tied = !gated,
                          .dropout = 0,
                          .buckets = 8};
    const nn::T5 model(options);
    randomize(model);
    check_module(
        model, {},
        [&](const Tensors&) {
          return model.loss(tensor({{3, 4, 2, 1}, {2, 1, 0, 0}}), tensor({{4, 1, 0}, {2, 3, 1}}));
        },
        1e-5);
  }
}

TEST_CASE("T5: dropout acts in training only") {
  nn::T5Options options = small_t5();
  options.dropout = 0.3;
  const nn::T5 model(options);
  const Tensor source = tensor({{3, 4, 1}}), target = tensor({{5, 1}});
  CHECK(model.loss(source, target).item() != model.loss(source, target).item());
  const nn::EvalMode eval(model);
  CHECK(model.loss(source, target).item() == model.loss(source, target).item());
}

TEST_CASE("T5: bad calls") {
  const auto made = [](auto change) {
    return [=] {
      nn::T5Options options = small_t5();
      change(options);
      nn::T5{options};
    };
  };
  check_error(made([](auto& o) { o.d_model = 0; }), "T5: expects d_model of 1 or more, got 0");
  check_error(made([](auto& o) { o.d_kv = -1; }), "T5: expects d_kv of 1 or more, got -1");
  check_error(made([](auto& o) { o.heads = 0; }), "T5: expects heads of 1 or more, got 0");
  check_error(made([](auto& o) { o.end = 0; }),
              "T5: pad and end are the same token, 0: the loss ignores padding but includes the end");
  check_error(made([](auto& o) { o.buckets = 6; }),
              "RelativeBias: expects buckets to be a multiple of 4, got 6");
  const nn::T5 model(small_t5());
  check_error(
      [&] {
        model(tensor({1, 2}), tensor({{1}}));
      },
      "T5: expects source [B, T], got [2]: add a batch axis with .unsqueeze(0)");
  check_error(
      [&] {
        model.generate(tensor({1, 2}), -1);
      },
      "T5: generate expects a count of 0 or more, got -1");
}

}  // namespace gradus::test
