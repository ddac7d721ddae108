#include "gradus/nn/module/init.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "near.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::max_difference;
using test::near;
namespace init = nn::init;

namespace {

double mean_of(const Tensor& w) { return w.detach().mean().item(); }
double std_of(const Tensor& w) { return std::sqrt(w.detach().var().item()); }
double largest(const Tensor& w) { return w.detach().abs().max().item(); }

/// Values look like U(-bound, bound).
void check_uniform(const Tensor& w, double bound) {
  CHECK(largest(w) <= bound);
  CHECK(largest(w) > 0.99 * bound);
  CHECK(std_of(w) == near(bound / std::sqrt(3.0), 0.02));
}

/// Values look like N(0, std^2).
void check_normal(const Tensor& w, double std) {
  CHECK(std::abs(mean_of(w)) < 0.03 * std);
  CHECK(std_of(w) == near(std, 0.02));
  CHECK(largest(w) > 3 * std);
}

}  // namespace

TEST_CASE("init: constants and plain distributions") {
  Generator generator(7);
  const Tensor w = empty({200, 100});
  CHECK(max_difference(init::zeros_(w), zeros({200, 100})) == 0);
  CHECK(max_difference(init::ones_(w), ones({200, 100})) == 0);
  CHECK(max_difference(init::constant_(w, 0.5), full({200, 100}, 0.5)) == 0);
  init::uniform_(w, 2, 4, generator);
  CHECK(w.min().item() >= 2);
  CHECK(w.max().item() < 4);
  CHECK(mean_of(w) == near(3, 0.01));
  init::normal_(w, 1, 0.5, generator);
  CHECK(mean_of(w) == near(1, 0.02));
  CHECK(std_of(w) == near(0.5, 0.02));
}

TEST_CASE("init: Xavier and Kaiming, fans of [out, in, ...]") {
  Generator generator(7);
  const Tensor w = empty({300, 100});
  check_uniform(init::xavier_uniform_(w, 1, generator), std::sqrt(6.0 / 400));
  check_uniform(init::xavier_uniform_(w, 2, generator), 2 * std::sqrt(6.0 / 400));
  check_normal(init::xavier_normal_(w, 1, generator), std::sqrt(2.0 / 400));
  // PyTorch's defaults: leaky_relu with slope 0, fan_in.
  check_uniform(init::kaiming_uniform_(w, {}, generator), std::sqrt(6.0 / 100));
  check_normal(init::kaiming_normal_(w, {}, generator), std::sqrt(2.0 / 100));
  check_uniform(init::kaiming_uniform_(w, {.a = std::sqrt(5.0)}, generator), std::sqrt(1.0 / 100));
  check_normal(init::kaiming_normal_(w, {.mode = init::Fan::out}, generator), std::sqrt(2.0 / 300));
  check_normal(init::kaiming_normal_(w, {.nonlinearity = init::Nonlinearity::tanh}, generator), 5.0 / 3 / 10);
  // A kernel of 3 x 5 multiplies both fans by 15.
  check_uniform(init::xavier_uniform_(empty({40, 20, 3, 5}), 1, generator), std::sqrt(6.0 / (60 * 15)));
  check_normal(init::kaiming_normal_(empty({40, 20, 3, 5}), {}, generator), std::sqrt(2.0 / (20 * 15)));
}

TEST_CASE("init: gains") {
  CHECK(init::gain(init::Nonlinearity::linear) == 1);
  CHECK(init::gain(init::Nonlinearity::sigmoid) == 1);
  CHECK(init::gain(init::Nonlinearity::tanh) == near(5.0 / 3));
  CHECK(init::gain(init::Nonlinearity::relu) == near(std::sqrt(2.0)));
  CHECK(init::gain(init::Nonlinearity::leaky_relu) == 1.4141428569978354);  // torch.nn.init.calculate_gain
  CHECK(init::gain(init::Nonlinearity::leaky_relu, 0.2) == near(std::sqrt(2 / 1.04)));
}

TEST_CASE("init: trunc_normal_ stays inside and has the truncated distribution's moments") {
  Generator generator(1);
  const Tensor w = empty({40000}, f64);
  init::trunc_normal_(w, 0, 1, -2, 2, generator);
  CHECK(largest(w) <= 2);
  CHECK(largest(w) > 1.99);
  CHECK(std::abs(mean_of(w)) < 0.02);
  CHECK(std_of(w) == near(0.8796, 0.02));  // 1 - 4 phi(2) / (2 Phi(2) - 1), root
  init::trunc_normal_(w, 1, 0.5, 1, 1.25, generator);
  CHECK(w.min().item() >= 1);
  CHECK(w.max().item() <= 1.25);
  init::trunc_normal_(w, 0, 1, 5, 9, generator);  // far in the tail
  CHECK(w.min().item() >= 5);
  CHECK(mean_of(w) == near(5.1865, 0.01));
}

TEST_CASE("init: the same generator state gives the same values, on any dtype's parameter") {
  Generator a(3), b(3);
  const nn::Linear layer(4, 4);
  init::normal_(layer.weight, 0, 1, a);
  CHECK(layer.weight.requires_grad());
  CHECK(max_difference(layer.weight, init::normal_(empty({4, 4}), 0, 1, b)) == 0);
  CHECK(a.state() == b.state());
  const std::uint64_t before = default_generator().state().offset;
  init::uniform_(layer.bias, 0, 1, a);
  CHECK(default_generator().state().offset == before);
}

namespace own {

/// Has the library's name, but multiplies by 1 + weight.
struct RMSNorm : nn::Module {
  nn::Parameter weight = parameter("weight", zeros({4}));
  nn::Parameter bias = parameter("gate_bias", full({4}, -2.0));
  nn::Parameter mix = parameter("mix", eye(4));
};
/// A layer of the library with an additional parameter.
struct Gated : nn::LayerNorm {
  Gated() : nn::LayerNorm(4) {}
  nn::Parameter gate = parameter("gate", full({4}, 0.25));
};
template <class T>
struct Family {
  struct Inner : nn::Module {};
};

}  // namespace own

TEST_CASE("init: gpt2_ does not change other modules' parameters, even if they have the library's names") {
  const nn::Module model;
  const own::RMSNorm norm = model.add("norm", own::RMSNorm());
  const own::Gated gated = model.add("gated", own::Gated());
  nn::init::constant_(gated.weight, 3.0);
  const nn::LayerNorm layer_norm = model.add("layer_norm", nn::LayerNorm(4));
  nn::init::constant_(layer_norm.weight, 3.0);
  nn::init::gpt2_(model);
  CHECK(norm.kind() == "RMSNorm");
  CHECK(norm.weight.sum().item() == 0);
  CHECK(norm.bias.sum().item() == -8);
  CHECK(max_difference(norm.mix, eye(4)) == 0);
  CHECK(layer_norm.weight.sum().item() == 4);
  CHECK(gated.weight.sum().item() == 4);
  CHECK(gated.gate.sum().item() == 1);
  CHECK(model.add("inner", own::Family<int>::Inner()).kind() == "Inner");
}

TEST_CASE("init: gpt2_ sets weights, biases, norms and residual projections") {
  Generator generator(2);
  const nn::TransformerEncoder model({.layers = 8, .block = {.d_model = 64, .heads = 2}});
  init::gpt2_(model, {}, generator);
  for (const StateDict::Entry& entry : model.named_parameters()) {
    const auto& name = entry.first;
    const auto& w = entry.second;
    INFO(name);
    if (name.ends_with("bias"))
      CHECK(largest(w) == 0);
    else if (name.find("norm") != std::string::npos)
      CHECK(max_difference(w, ones(w.shape())) == 0);
    else
      CHECK(std_of(w) == near(0.02, 0.05));
  }
  init::gpt2_(model, {.std = 0.04, .residual_layers = 8}, generator);
  for (const char* const name : {"layers.0.self_attn.out_proj.weight", "layers.7.linear2.weight"})
    CHECK(std_of(model.parameter(name)) == near(0.01, 0.05));  // 0.04 / sqrt(16)
  for (const char* const name : {"layers.0.self_attn.in_proj_weight", "layers.7.linear1.weight"})
    CHECK(std_of(model.parameter(name)) == near(0.04, 0.05));
}

TEST_CASE("init: bad calls") {
  check_error([] { init::normal_(Tensor()); }, "normal_: the tensor is undefined");
  check_error([] { init::zeros_(Tensor()); }, "zeros_: the tensor is undefined");
  check_error([] { init::uniform_(zeros({2}, i64)); },
              "uniform_: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { init::uniform_(zeros({2}), 1, 0); }, "uniform_: expects low <= high, got 1 and 0");
  check_error([] { init::normal_(zeros({2}), NAN, 1); }, "normal_: expects a finite mean, got nan");
  check_error([] { init::trunc_normal_(zeros({2}), NAN); }, "trunc_normal_: expects a finite mean, got nan");
  check_error([] { init::zeros_(Tensor()); }, "zeros_: the tensor is undefined");
  check_error(
      [] {
        init::xavier_normal_(zeros({2, 2}), -1);
      },
      "xavier_normal_: expects a gain of 0 or more, got -1");
  check_error([] { init::gpt2_(nn::Linear(1, 1), {.std = -1}); }, "gpt2_: expects std >= 0, got -1");
  check_error([] { init::normal_(zeros({2}), 0, -1); }, "normal_: expects std >= 0, got -1");
  check_error([] { init::xavier_uniform_(zeros({5})); },
              "xavier_uniform_: expects a weight [out, in, ...] to count its fans, got [5]");
  check_error(
      [] {
        init::kaiming_normal_(zeros({0, 3}));
      },
      "kaiming_normal_: a weight [0, 3] without elements has no fans");
  check_error([] { init::trunc_normal_(zeros({2}), 0, 0); },
              "trunc_normal_: expects std > 0 and low < high, got std 0, low -2, high 2");
  check_error([] { init::trunc_normal_(zeros({2}), 0, 1, 7, 9); },
              "trunc_normal_: [7, 9] lies more than 6 standard deviations from the mean 0");
  check_error([] { init::gpt2_(nn::Linear(1, 1), {.residual_layers = -1}); },
              "gpt2_: expects residual_layers >= 0, got -1");
}
