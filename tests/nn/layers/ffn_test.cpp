#include "gradus/nn/layers/ffn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::Tensors;
using Lines = std::vector<std::string>;
using A = nn::Activation;

TEST_CASE("FFN: keys; the hidden size is 4 d_model unless given") {
  CHECK(keys_and_shapes(nn::FFN({.d_model = 2})) ==
        Lines{"linear1.weight [8, 2]", "linear1.bias [8]", "linear2.weight [2, 8]", "linear2.bias [2]"});
  CHECK(keys_and_shapes(nn::FFN({.d_model = 2, .d_ff = 3, .gated = true, .bias = false})) ==
        Lines{"linear1.weight [3, 2]", "linear2.weight [2, 3]", "linear3.weight [3, 2]"});
}

TEST_CASE("FFN: every activation, plain and gated, against its equation, with gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4});
  const auto apply = [](nn::Activation activation, const Tensor& h) {
    if (activation == A::relu) return maximum(h, zeros_like(h));
    if (activation == A::gelu) return h * (erf(h / std::sqrt(2.0)) + 1) * 0.5;
    if (activation == A::gelu_tanh)
      return h * (tanh((h + h * h * h * 0.044715) * 0.7978845608028654) + 1) * 0.5;
    return h / (exp(-h) + 1);
  };
  for (const nn::Activation activation : {A::relu, A::gelu, A::gelu_tanh, A::silu})
    for (const bool gated : {false, true}) {
      const nn::FFN ffn({.d_model = 4, .d_ff = 5, .activation = activation, .gated = gated});
      Tensor hidden = apply(activation, linear(x, ffn.linear1.weight, ffn.linear1.bias));
      if (gated) hidden = hidden * linear(x, ffn.linear3->weight, ffn.linear3->bias);
      CHECK(max_difference(ffn(x), linear(hidden, ffn.linear2.weight, ffn.linear2.bias)) < 1e-13);
      check_module(ffn, {x}, [&](const Tensors& in) { return ffn(in[0]); });
    }
}

TEST_CASE("FFN: dropout on the hidden layer, in training only") {
  const nn::FFN ffn({.d_model = 8, .dropout = 0.5});
  const Tensor x = randn({4, 8});
  manual_seed(2);
  const Tensor y = ffn(x);
  CHECK(max_difference(ffn(x), y) > 0);
  ffn.eval();
  CHECK(max_difference(ffn(x), ffn(x)) == 0);
  CHECK(max_difference(ffn(x), ffn.linear2(relu(ffn.linear1(x)))) == 0);
}

TEST_CASE("FFN: bad calls") {
  check_error([] { nn::FFN({}); }, "FFN: expects d_model of 1 or more, got 0");
  check_error([] { nn::FFN({.d_model = 4, .d_ff = -1}); }, "FFN: expects d_ff of 1 or more, got -1");
  check_error([] { nn::FFN({.d_model = 4, .dropout = 2}); }, "FFN: expects dropout from 0 to 1, got 2");
  const nn::FFN ffn({.d_model = 4});
  check_error([&] { ffn(zeros({2, 5})); }, "FFN: expects x [..., 4], got [2, 5]");
  check_error([&] { ffn(Tensor()); }, "FFN: x is an undefined tensor");
  check_error([&] { ffn(zeros({4}, f64)); },
              "FFN: expects x of f32, as are its parameters, got f64 [4]: convert with .to(f32)");
}
