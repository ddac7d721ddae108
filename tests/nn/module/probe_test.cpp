#include "gradus/nn/module/probe.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "gradus/nn/nn.h"
#include "gradus/optim/sgd.h"
#include "nn/check_module.h"

using namespace gradus;

namespace {

nn::TransformerEncoder encoder_of(bool causal = false) {
  return nn::TransformerEncoder({.layers = 2, .block = {.d_model = 4, .heads = 2, .causal = causal}});
}

std::vector<std::string> layers_of(const nn::Probe& probe) {
  std::vector<std::string> names;
  for (const nn::ProbeRow& row : probe.rows()) names.push_back(row.layer);
  return names;
}

/// Root of the sum of squares over many tensors.
double norm_of(const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& t : tensors) sum += t.detach().square().sum().item();
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("probe: norms, gradients and updates of each layer, by hand") {
  const DefaultDType f64_default(f64);
  const auto encoder = encoder_of();
  const Tensor x = randn({2, 3, 4});
  // By hand: the layers' outputs, with their gradients kept.
  const Tensor y0 = (*encoder.layers[0].as<nn::PreLNBlock>())(x);
  const Tensor y1 = (*encoder.layers[1].as<nn::PreLNBlock>())(y0);
  const Tensor out = (*encoder.norm)(y1);
  y0.retain_grad();
  y1.retain_grad();
  const Tensor target = randn({2, 3, 4});
  mse_loss(out, target).backward();
  std::vector<Tensor> weights, gradients;
  for (const auto& [name, w] : encoder.named_parameters())
    if (name.starts_with("layers.1.")) {
      weights.push_back(w.detach().clone());
      gradients.push_back(w.grad().clone());
    }
  encoder.zero_grad();

  optim::SGD opt(encoder.parameters(), {.lr = 0.1});
  const nn::Probe probe;
  mse_loss(encoder(x), target).backward();
  opt.step();
  const std::vector<nn::ProbeRow> rows = probe.rows();
  REQUIRE(layers_of(probe) == std::vector<std::string>{"layers.0", "layers.1", "norm"});
  CHECK(rows[0].activation_norm == doctest::Approx(norm_of({y0}) / std::sqrt(6.0)).epsilon(1e-12));
  CHECK(rows[1].activation_norm == doctest::Approx(norm_of({y1}) / std::sqrt(6.0)).epsilon(1e-12));
  CHECK(rows[2].activation_norm == doctest::Approx(2).epsilon(1e-4));  // layer norm: root of d
  CHECK(rows[0].activation_gradient_norm == doctest::Approx(norm_of({y0.grad()})).epsilon(1e-12));
  CHECK(rows[1].activation_gradient_norm == doctest::Approx(norm_of({y1.grad()})).epsilon(1e-12));
  CHECK(rows[1].parameter_gradient_norm == doctest::Approx(norm_of(gradients)).epsilon(1e-12));
  CHECK(rows[1].update_ratio == doctest::Approx(0.1 * norm_of(gradients) / norm_of(weights)).epsilon(1e-9));
}

TEST_CASE("probe: the largest attention logit among visible pairs") {
  const DefaultDType f64_default(f64);
  for (const bool causal : {false, true}) {
    const auto encoder = encoder_of(causal);
    const Tensor x = randn({1, 5, 4});
    const nn::Probe probe;
    encoder(x);
    const nn::PreLNBlock& block = *encoder.layers[0].as<nn::PreLNBlock>();
    const Tensor n = block.norm1(x).detach();
    const Tensor qkv = linear(n, block.self_attn.in_proj_weight, block.self_attn.in_proj_bias).detach();
    double largest = -INFINITY;
    for (std::int64_t h = 0; h < 2; ++h)
      for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t j = 0; j < (causal ? i + 1 : 5); ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < 2; ++d)
            score += qkv.array().at({0, i, 2 * h + d}) * qkv.array().at({0, j, 4 + 2 * h + d});
          largest = std::fmax(largest, score / std::sqrt(2.0));
        }
    CHECK(probe.rows()[0].largest_logit == doctest::Approx(largest).epsilon(1e-12));
    CHECK(std::isnan(probe.rows()[2].largest_logit));  // a norm has no attention
  }
}

TEST_CASE("probe: masks hide logits; an attention bias counts") {
  const nn::TransformerEncoder encoder({.layers = 1, .block = {.d_model = 4, .heads = 1}});
  const Tensor x = randn({1, 3, 4});
  const nn::Probe probe;
  encoder(x, {.key_padding_mask = tensor({{true, true, true}})});
  CHECK(probe.rows()[0].largest_logit == -INFINITY);
  encoder(x, {.score_bias = full({}, 1000.0)});
  CHECK(probe.rows()[0].largest_logit == doctest::Approx(1000).epsilon(0.1));
}

TEST_CASE("probe: before backward gradients are NaN") {
  const auto encoder = encoder_of();
  const nn::Probe probe;
  encoder(randn({1, 2, 4}));
  for (const nn::ProbeRow& row : probe.rows()) {
    CHECK(row.activation_norm > 0);
    CHECK(std::isnan(row.activation_gradient_norm));
    CHECK(std::isnan(row.parameter_gradient_norm));
    CHECK(row.update_ratio == 0);
  }
  const NoGrad guard;
  encoder(randn({1, 2, 4}));  // and without a tape it watches all the same
  CHECK(probe.rows().size() == 3);
}

TEST_CASE("probe: watches a GPT, only during its lifetime, the inner one of two") {
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}});
  const Tensor ids = tensor({{1, 2, 3}});
  gpt(ids);
  const nn::Probe outer;
  {
    const nn::Probe inner;
    gpt(ids);
    gpt(ids);
    CHECK(layers_of(inner) == std::vector<std::string>{"token_embedding", "layers.0", "norm"});
  }
  CHECK(outer.rows().empty());
  CHECK(nn::Probe::current() == &outer);
  gpt(ids);
  CHECK(outer.rows().size() == 3);
}

TEST_CASE("probe: changes nothing and leaks nothing") {
  const auto encoder = encoder_of(true);
  const Tensor x = randn({2, 3, 4});
  const auto gradients = [&] {
    encoder.zero_grad();
    encoder(x).sum().backward();
    return encoder.layers[0].parameter("self_attn.in_proj_weight").grad().clone();
  };
  const Tensor without = gradients();
  const std::int64_t nodes = live_nodes();
  {
    nn::Probe probe;
    CHECK(test::max_difference(gradients(), without) == 0);
    CHECK(live_nodes() == nodes);
    CHECK(probe.rows().size() == 3);
    probe.clear();
    CHECK(probe.rows().empty());
  }
  CHECK(nn::Probe::current() == nullptr);
  CHECK(test::max_difference(gradients(), without) == 0);
}

TEST_CASE("probe: user models show their layers with observe()") {
  struct Net : nn::Module {
    nn::Linear fc1 = add("fc1", nn::Linear(2, 3));
    nn::Linear fc2 = add("fc2", nn::Linear(3, 1));
    Tensor operator()(const Tensor& x) const {
      const Tensor h = nn::observe(fc1, tanh(fc1(x)));
      return nn::observe(fc2, fc2(h));
    }
  };
  const Net net;
  const nn::Probe probe;
  const Tensor y = net(ones({4, 2}));
  CHECK(layers_of(probe) == std::vector<std::string>{"fc1", "fc2"});
  CHECK(probe.rows()[1].activation_norm == doctest::Approx(norm_of({y}) / 2));
}

TEST_CASE("probe: scopes may end in another order") {
  const nn::Linear layer(2, 2);
  auto outer = std::make_unique<nn::Probe>(), inner = std::make_unique<nn::Probe>();
  outer.reset();
  CHECK(nn::Probe::current() == inner.get());
  inner.reset();
  CHECK(nn::Probe::current() == nullptr);
  nn::observe(layer, ones({1, 2}));  // no probe that is gone
}

TEST_CASE("probe: the table") {
  const nn::Module model;
  const auto layer = model.add("fc", nn::Linear(2, 2));
  nn::init::constant_(layer.weight, 0.5);
  nn::init::zeros_(layer.bias);
  const nn::Probe probe;
  nn::observe(layer, layer(ones({1, 2}))).backward(ones({1, 2}));
  CHECK(probe.table() ==
        "layer         |y|        |dy|        |dw|  |step|/|w|   max logit\n"
        "fc          1.414       1.414       2.449           0           -\n");
}

TEST_CASE("probe: for a model without a stack, the layers that have parameters") {
  const nn::Sequential net(nn::Linear(2, 3), tanh, nn::Dropout(0.1), nn::Linear(3, 1));
  const Tensor x = randn({4, 2});
  CHECK(layers_of(nn::Probe()).empty());
  const nn::Probe outer(net);
  {
    optim::SGD opt(net.parameters(), {.lr = 0.1});
    const nn::Probe probe(net);
    const Tensor y = net(x);
    y.backward(ones({4, 1}));
    CHECK(layers_of(probe) == std::vector<std::string>{"0", "3"});
    const std::vector<nn::ProbeRow> rows = probe.rows();
    CHECK(rows[1].activation_norm == doctest::Approx(norm_of({y}) / 2));
    CHECK(rows[1].activation_gradient_norm == doctest::Approx(2));  // four ones
    CHECK(rows[0].parameter_gradient_norm ==
          doctest::Approx(norm_of({net.parameter("0.weight").grad(), net.parameter("0.bias").grad()})));
    CHECK(rows[0].update_ratio == 0);
    opt.step();
    CHECK(probe.rows()[0].update_ratio > 0);
  }
  CHECK(outer.rows().empty());  // of two, the inner one
  net(x);
  CHECK(outer.rows().size() == 2);
  nn::Linear(2, 2)(x);  // no part of the model
  CHECK(outer.rows().size() == 2);
}

TEST_CASE("probe: for a GPT passed to the constructor, also layers inside blocks, and blocks as before") {
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}});
  const nn::Probe probe(gpt);
  const nn::Probe* const watching = &probe;
  gpt(tensor({{1, 2, 3}}));
  CHECK(nn::Probe::current() == watching);
  const std::vector<std::string> names = layers_of(probe);
  for (const char* name : {"token_embedding", "layers.0", "layers.0.norm1", "layers.0.self_attn",
                           "layers.0.self_attn.out_proj", "layers.0.linear1", "norm"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
}
