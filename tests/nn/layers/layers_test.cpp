// Linear, Embedding, LayerNorm, RMSNorm, Dropout, activations, Sequential.

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "near.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::near;
using test::Tensors;
using Lines = std::vector<std::string>;

TEST_CASE("Linear: keys, values, gradients") {
  const DefaultDType f64_default(f64);
  const nn::Linear layer(3, 2), plain(3, 2, {.bias = false});
  CHECK(keys_and_shapes(layer) == Lines{"weight [2, 3]", "bias [2]"});
  CHECK(keys_and_shapes(plain) == Lines{"weight [2, 3]"});
  CHECK_FALSE(plain.bias.defined());
  const Tensor x = randn({4, 5, 3});
  CHECK(max_difference(layer(x), matmul(x, layer.weight.t()) + layer.bias) < 1e-14);
  CHECK(max_difference(plain(x), matmul(x, plain.weight.t())) < 1e-14);
  check_module(layer, {x}, [&](const Tensors& in) { return layer(in[0]); });
  check_module(plain, {randn({3})}, [&](const Tensors& in) { return plain(in[0]); });
  CHECK(layer(zeros({0, 3})).shape() == Shape{0, 2});
}

TEST_CASE("Linear: starts as U(-1/sqrt(in), 1/sqrt(in))") {
  manual_seed(3);
  const nn::Linear layer(100, 400);
  for (const Tensor& w : {layer.weight, layer.bias}) {
    CHECK(w.detach().abs().max().item() <= 0.1);
    CHECK(w.detach().abs().max().item() > 0.099);
    CHECK(std::abs(w.detach().mean().item()) < 0.01);
    CHECK(w.detach().square().mean().item() == near(0.01 / 3, 0.1));
  }
}

TEST_CASE("Linear: bad calls") {
  const nn::Linear layer(64, 10);
  check_error([&] { layer(zeros({8, 65})); }, "Linear: expects x [..., 64], got [8, 65]");
  check_error([&] { layer(zeros({})); }, "Linear: expects x [..., 64], got []");
  check_error([&] { layer(Tensor()); }, "Linear: x is an undefined tensor");
  check_error(
      [&] {
        layer(zeros({2, 64}, f64));
      },
      "Linear: expects x of f32, as are its parameters, got f64 [2, 64]: convert with .to(f32)");
  check_error([] { nn::Linear(0, 3); }, "Linear: expects in of 1 or more, got 0");
  check_error([] { nn::Linear(3, -1); }, "Linear: expects out of 1 or more, got -1");
  check_error([] { nn::Linear(std::int64_t{1} << 61, 3); }, "Linear: in is too large: 2305843009213693952");
}

TEST_CASE("Embedding: rows of the weight, gradients add up") {
  const DefaultDType f64_default(f64);
  const nn::Embedding layer(5, 3);
  CHECK(keys_and_shapes(layer) == Lines{"weight [5, 3]"});
  const Tensor ids = tensor({{0, 4, 4}, {2, 0, 4}});
  const Tensor y = layer(ids);
  CHECK(y.shape() == Shape{2, 3, 3});
  CHECK(max_difference(y[1][0], layer.weight[2]) == 0);
  check_module(layer, {ids}, [&](const Tensors& in) { return layer(in[0]); });
  y.backward(ones({2, 3, 3}));
  CHECK(layer.weight.grad().array().at({1, 0}) == 0);
}

TEST_CASE("Embedding: starts as N(0, 1)") {
  manual_seed(1);
  const nn::Embedding layer(200, 100);
  CHECK(std::abs(layer.weight.detach().mean().item()) < 0.03);
  CHECK(layer.weight.detach().var().item() == near(1, 0.05));
}

TEST_CASE("Embedding: bad calls") {
  const nn::Embedding layer(5, 3);
  check_error(
      [&] {
        layer(zeros({2, 3}));
      },
      "Embedding: expects ids of i64, got f32 [2, 3]: convert with .to(i64)");
  check_error([&] { layer(Tensor()); }, "Embedding: ids is an undefined tensor");
  check_error([] { nn::Embedding(0, 3); }, "Embedding: expects count of 1 or more, got 0");
  check_error([] { nn::Embedding(5, 0); }, "Embedding: expects dim of 1 or more, got 0");
  CHECK_THROWS_WITH_AS(layer(tensor({0, 5})), doctest::Contains("embedding: "), Error);
  CHECK_THROWS_WITH_AS(layer(tensor({-1})), doctest::Contains("embedding: "), Error);
}

TEST_CASE("LayerNorm: keys, values, gradients") {
  const DefaultDType f64_default(f64);
  const nn::LayerNorm norm(4), gain(4, {.bias = false}), bare(4, {.affine = false}), wide(4, {.eps = 0.5});
  CHECK(keys_and_shapes(norm) == Lines{"weight [4]", "bias [4]"});
  CHECK(keys_and_shapes(gain) == Lines{"weight [4]"});
  CHECK(keys_and_shapes(bare).empty());
  // Each is sqrt(3) away from the mean in units of the standard deviation: eps stands inside the root.
  CHECK(norm(tensor({1.0, 0.0, 0.0, 0.0})).array().at({0}) == near(1.7320, 1e-4));
  const Tensor x = randn({2, 3, 4});
  const auto by_hand = [&](double eps) {
    const Tensor centred = x - x.mean(-1, true);
    return centred / (centred.square().mean(-1, true) + eps).sqrt();
  };
  CHECK(max_difference(norm(x), by_hand(1e-5)) < 1e-13);
  CHECK(max_difference(bare(x), by_hand(1e-5)) < 1e-13);
  CHECK(max_difference(wide(x), by_hand(0.5)) < 1e-13);
  nn::init::normal_(norm.weight);
  nn::init::normal_(norm.bias);
  check_module(norm, {x}, [&](const Tensors& in) { return norm(in[0]); });
  check_module(gain, {x}, [&](const Tensors& in) { return gain(in[0]); });
  check_module(bare, {x}, [&](const Tensors& in) { return bare(in[0]); });
}

TEST_CASE("LayerNorm and RMSNorm: bad calls") {
  const nn::LayerNorm norm(4);
  const nn::RMSNorm rms(4);
  check_error([&] { norm(zeros({2, 5})); }, "LayerNorm: expects x [..., 4], got [2, 5]");
  check_error(
      [&] {
        norm(zeros({2, 4}, f64));
      },
      "LayerNorm: expects x of f32, as are its parameters, got f64 [2, 4]: convert with .to(f32)");
  check_error([] { nn::LayerNorm(0); }, "LayerNorm: expects dim of 1 or more, got 0");
  check_error([] { nn::LayerNorm(4, {.eps = -1}); }, "LayerNorm: expects eps of 0 or more, got -1");
  check_error([] { nn::LayerNorm(4, {.affine = false})(zeros({3})); },
              "LayerNorm: expects x [..., 4], got [3]");
  check_error([&] { rms(zeros({2, 5})); }, "RMSNorm: expects x [..., 4], got [2, 5]");
  check_error([&] { rms(Tensor()); }, "RMSNorm: x is an undefined tensor");
  check_error([&] { rms(zeros({4}, f64)); },
              "RMSNorm: expects x of f32, as are its parameters, got f64 [4]: convert with .to(f32)");
  check_error([] { nn::RMSNorm(-2); }, "RMSNorm: expects dim of 1 or more, got -2");
  check_error([] { nn::RMSNorm(4, {.eps = -1}); }, "RMSNorm: expects eps of 0 or more, got -1");
}

TEST_CASE("RMSNorm: keys, values, gradients") {
  const DefaultDType f64_default(f64);
  const nn::RMSNorm norm(4), bare(4, {.eps = 0.5, .affine = false});
  CHECK(keys_and_shapes(norm) == Lines{"weight [4]"});
  CHECK(keys_and_shapes(bare).empty());
  const Tensor x = randn({2, 3, 4});
  nn::init::normal_(norm.weight);
  CHECK(max_difference(norm(x), x / (x.square().mean(-1, true) + 1e-6).sqrt() * norm.weight) < 1e-13);
  CHECK(max_difference(bare(x), x / (x.square().mean(-1, true) + 0.5).sqrt()) < 1e-13);
  check_module(norm, {x}, [&](const Tensors& in) { return norm(in[0]); });
}

TEST_CASE("Dropout: zeroes and scales in training, returns x in eval mode") {
  const nn::Dropout layer(0.25);
  const Tensor x = ones({100, 100});
  manual_seed(5);
  const Tensor y = layer(x);
  std::int64_t zeros_seen = 0;
  for (const float v : y.span<float>()) {
    CHECK((v == 0 || v == near(1 / 0.75)));
    zeros_seen += v == 0;
  }
  CHECK(zeros_seen > 2300);
  CHECK(zeros_seen < 2700);
  CHECK(max_difference(layer(x), y) > 0);  // another draw
  manual_seed(5);
  CHECK(max_difference(layer(x), y) == 0);  // the same seed
  layer.eval();
  CHECK(layer(x).array().storage() == x.array().storage());
  CHECK(nn::Dropout(0)(x).array().storage() == x.array().storage());
  check_error([] { nn::Dropout(-0.1); }, "Dropout: expects p from 0 to 1, got -0.1");
  check_error([] { nn::Dropout(1.5); }, "Dropout: expects p from 0 to 1, got 1.5");
  check_error([] { nn::Dropout(NAN); }, "Dropout: expects p from 0 to 1, got nan");
}

TEST_CASE("Dropout: p = 1 gives zeros and no gradient, in every layer with dropout") {
  const Tensor x = ones({2, 3, 4});
  x.mutable_span<float>()[5] = INFINITY;
  Tensor leaf = x.clone();
  leaf.requires_grad_();
  const Tensor y = nn::Dropout(1)(leaf);
  CHECK((y == 0).all());
  y.sum().backward();
  CHECK((leaf.grad() == 0).all());

  const Tensor finite = randn({2, 3, 4});
  const nn::MultiheadAttention attention({.d_model = 4, .heads = 2, .dropout = 1});
  const nn::FFN ffn({.d_model = 4, .dropout = 1});
  const nn::TransformerEncoder encoder({.layers = 2, .block = {.d_model = 4, .heads = 2, .dropout = 1}});
  const auto check = [&](const nn::Module& layer, const Tensor& out, const Tensor& expected) {
    CHECK(max_difference(out, expected) == 0);
    out.square().sum().backward();
    for (const Tensor& w : layer.parameters())
      for (const float dw : w.grad().to_vector<float>()) CHECK(std::isfinite(dw));
  };
  check(attention, attention(finite), expand(attention.out_proj.bias, {2, 3, 4}));
  CHECK((attention.in_proj_weight.grad() == 0).all());
  check(ffn, ffn(finite), expand(ffn.linear2.bias, {2, 3, 4}));
  CHECK((ffn.linear1.weight.grad() == 0).all());
  const Tensor through = encoder(finite);
  CHECK(max_difference(through, (*encoder.norm)(finite)) == 0);  // no branch is left
  const nn::GPT gpt(
      {.vocab = 5, .context = 3, .layers = 1, .block = {.d_model = 4, .heads = 2, .dropout = 1}});
  CHECK(std::isfinite(gpt.loss(tensor({{0, 1, 2}}), tensor({{1, 2, 3}})).item()));
}

TEST_CASE("activations as modules") {
  const Tensor x = randn({3, 4});
  CHECK(max_difference(nn::ReLU()(x), relu(x)) == 0);
  CHECK(max_difference(nn::GELU()(x), gelu(x)) == 0);
  CHECK(max_difference(nn::GELU(GeluForm::tanh)(x), gelu(x, GeluForm::tanh)) == 0);
  CHECK(max_difference(nn::SiLU()(x), silu(x)) == 0);
  CHECK(max_difference(nn::Tanh()(x), tanh(x)) == 0);
  CHECK(max_difference(nn::Sigmoid()(x), sigmoid(x)) == 0);
  CHECK(nn::GELU().parameters().empty());
  CHECK(nn::SiLU().kind() == "SiLU");
}

TEST_CASE("Sequential: modules and functions in order, numbered keys") {
  const DefaultDType f64_default(f64);
  const nn::Linear first(2, 3), last(3, 1);
  const nn::Sequential net(
      first, nn::Tanh(), [](const Tensor& x) { return x * 2; }, gradus::sigmoid, last);
  CHECK(keys_and_shapes(net) == Lines{"0.weight [3, 2]", "0.bias [3]", "4.weight [1, 3]", "4.bias [1]"});
  CHECK(net.size() == 5);
  const Tensor x = randn({6, 2});
  CHECK(max_difference(net(x), last(sigmoid(tanh(first(x)) * 2))) == 0);
  check_module(net, {x}, [&](const Tensors& in) { return net(in[0]); });
  CHECK(std::string(last.path()) == "4");
}

TEST_CASE("Sequential: names of ops and modules in one list") {
  const nn::Linear first(2, 3), last(3, 1);
  const nn::Sequential net(first, tanh, gelu, relu, silu, sigmoid, exp, last);
  const Tensor x = randn({4, 2});
  CHECK(net.size() == 8);
  CHECK(max_difference(net(x), last(exp(sigmoid(silu(relu(gelu(tanh(first(x))))))))) == 0);
}

TEST_CASE("Identity and Flatten") {
  const Tensor x = randn({2, 3, 4});
  CHECK(max_difference(nn::Identity()(x), x) == 0);
  CHECK(nn::Flatten()(x).shape() == Shape{2, 12});
  CHECK(nn::Flatten(0, 1)(x).shape() == Shape{6, 4});
  CHECK(nn::Sequential(nn::Flatten(), nn::Linear(12, 5))(x).shape() == Shape{2, 5});
}

TEST_CASE("Embedding: a padding id has zeros and no gradient") {
  const nn::Embedding embedding(4, 3, {.padding_idx = 1});
  const Tensor ids = tensor({{1, 2}, {2, 1}});
  const Tensor y = embedding(ids);
  CHECK(y.select(1, 0).select(0, 0).abs().sum().item() == 0);
  y.sum().backward();
  CHECK(embedding.weight.grad().select(0, 1).abs().sum().item() == 0);
  CHECK(embedding.weight.grad().select(0, 2).sum().item() == 6);
  check_error([] { nn::Embedding(4, 3, {.padding_idx = 4}); },
              "Embedding: expects a padding_idx in 0 .. 3, got 4");
}

TEST_CASE("Sequential: copies share steps and parameters, it nests and grows") {
  nn::Sequential inner(nn::Linear(2, 2));
  const nn::Sequential copy = inner;
  inner.append(nn::ReLU());
  CHECK(copy.size() == 2);
  const nn::Sequential outer(inner, nn::Linear(2, 1));
  CHECK(keys_and_shapes(outer) ==
        Lines{"0.0.weight [2, 2]", "0.0.bias [2]", "1.weight [1, 2]", "1.bias [1]"});
  CHECK(max_difference(nn::Sequential()(ones({2})), ones({2})) == 0);
  check_error([&] { outer(ones({3, 3})); }, "Linear: expects x [..., 2], got [3, 3] (in 0.0)");
}
