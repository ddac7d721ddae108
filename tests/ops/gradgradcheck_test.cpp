#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/core/tape/record.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/gradcheck.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// x^2, whose backward for Tensors is dy x `value`, of which the tape knows only dy x `slope`.
Tensor square_with(double value, double slope, const Tensor& x) {
  return record("square", x.detach().square().array(), {&x},
                [x = Saved(x.array()), value, slope]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    const Tensor in = of.in(0, x);
                    return {dy * (in * slope + in.detach() * (value - slope))};
                  } else {
                    return {(Tensor(dy) * Tensor(*x) * 2).array()};
                  }
                });
}

}  // namespace

TEST_CASE("gradgradcheck: accepts correct second derivatives, and changes nothing") {
  manual_seed(1);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{3, 0}, Shape{2, 3}}) {
    const Tensor x = leaf(randn(shape, f64));
    const Values before = values(x);
    gradgradcheck([](const Tensor& t) { return square_with(2, 2, t); }, {x});
    CHECK(values(x) == before);
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("gradgradcheck: several inputs and outputs, constants, integers, linear functions, a model") {
  manual_seed(1);
  const Tensor a = leaf(randn({2, 3}, f64)), b = leaf(randn({3, 2}, f64)), c = randn({2, 2}, f64);
  gradgradcheck([](const Tensor& p, const Tensor& q, const Tensor& r) { return matmul(p, q) * r; },
                {a, b, c});
  gradgradcheck(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{x[0] * x[0], x[0].argmax(-1), x[1].exp().sum() * x[0].sum()};
      },
      {a, b});
  gradgradcheck([](const Tensor& x) { return x * 3; }, {a});
  gradgradcheck([](const Tensor& x) { return dropout(x, 0.5, true).square(); }, {a});
  const Tensor v = randn({2, 3}, f64);
  gradgradcheck([](const Tensor& x) { return x.exp(); }, {a}, {.grad_outputs = {v}});
  const NoGrad outside;
  const Tensor x = randn({4, 3}, f64);
  const DefaultDType guard(f64);
  const nn::Linear up(3, 4), down(4, 1);
  gradgradcheck([&] { return down(up(x).tanh()).square().sum(); },
                {up.weight, up.bias, down.weight, down.bias});
  CHECK_FALSE(up.weight.grad().defined());
}

TEST_CASE("gradgradcheck: names the worst entry, and gradients that differ from a plain backward's") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), w = leaf(tensor({0.5}, f64));
  check_error([&] { gradgradcheck([](const Tensor& t) { return square_with(3, 2, t); }, {x}); },
              "gradgradcheck: the gradient of input 0 [2] at [0] is " +
                  // what grad_output was drawn there decides the numbers
                  [&] {
                    Generator generator(0);
                    const double v = randn({2}, generator, f64)[0].item();
                    char text[80];
                    std::snprintf(text, sizeof text, "%.6g with create_graph, %.6g without", 3 * v, 2 * v);
                    return std::string(text);
                  }() +
                  ": the op's backward for Tensors differs from that for Arrays");
  const Tensor v = tensor({1.0, 0.5}, f64);
  check_error(
      [&] {
        gradgradcheck(
            [](const Tensor& s, const Tensor& t) { return std::vector<Tensor>{square_with(2, 1.5, t) + s}; },
            {w, x}, {.grad_outputs = {v}});
      },
      "gradgradcheck: input 1 [2] at [0]: backward gives 1.5, central differences 2 for the gradient of "
      "input 1 [2] at [0]: off by 0.5, more than 1e-05 + 0.001 * 2; 2 of 9 derivatives are off");
  CHECK(values(x) == Values{1, 2});
  // Every output counts, not the first alone.
  const auto with_slope = [&](double slope) {
    gradgradcheck(
        [slope](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{in[0] * in[0], square_with(2, slope, in[0])};
        },
        {x});
  };
  with_slope(2);
  CHECK_THROWS_WITH_AS(with_slope(1.5), doctest::Contains("derivatives are off"), Error);
}

TEST_CASE("gradgradcheck: errors") {
  const Tensor x = leaf(ones({2}, f64)), constant = ones({2}, f64);
  const auto square = [](const Tensor& t) { return t * t; };
  check_error([&] { gradgradcheck(square, {constant}); },
              "gradgradcheck: none of the 1 inputs requires grad: call requires_grad_() on those to be "
              "checked");
  check_error([&] { gradgradcheck(square, {leaf(ones({2}))}); },
              "gradgradcheck: input 0 [2] is f32, whose rounding differences would magnify: make it f64, as "
              "DefaultDType does for a model made in its scope");
  check_error([&] { gradgradcheck([](const Tensor& t) { return t.argmax(-1); }, {x}); },
              "gradgradcheck: no output of the function requires grad: it must compute one from its inputs "
              "with ops that record themselves");
  check_error([&] { gradgradcheck([](const Tensor& t) { return (t * t).to(f32); }, {x}); },
              "gradgradcheck: output 0 [2] of those that require grad is f32, whose rounding differences "
              "would magnify: compute it in f64");
  check_error(
      [&] {
        gradgradcheck(square, {x}, {.grad_outputs = {constant, constant}});
      },
      "gradgradcheck: expects a grad_output for each of the 1 outputs that require grad, got 2");
  check_error([&] { gradgradcheck(square, {x}, {.grad_outputs = {ones({3}, f64)}}); },
              "grad: expects grad_output f64 [2], as the output is, got f64 [3]");
  check_error(
      [&] { gradgradcheck(square, {x}, {.grad_outputs = {x * 1}}); },
      "gradgradcheck: grad_output 0 [2] is the output of mul, not a leaf: pass what it was made from, "
      "or a detach()");
  check_error([&] { gradgradcheck(square, {x}, {.eps = 0}); },
              "gradgradcheck: expects an eps above 0 and tolerances of 0 or more, got eps 0, atol 1e-05, "
              "rtol 0.001");
  const auto plain = [](const Tensor& t) {
    return record("plain", t.array().clone(), {&t}, [](const Array& dy, Needs) -> Grads { return {dy}; });
  };
  check_error(
      [&] { gradgradcheck(plain, {x}); },
      "grad: plain [2] has no second derivative, which create_graph needs: its backward is written "
      "for Arrays alone, or returns no GradsOf<V>; state it for Tensors too, as core/tape/record.h shows");
  int calls = 0;
  check_error([&] { gradgradcheck([&](const Tensor& t) { return t * t * ++calls; }, {x}); },
              "gradgradcheck: the function gave other values in a second call with the same inputs: it must "
              "compute the same each time; recreate any generator in each call");
  CHECK(values(x) == Values{1, 1});
}

}  // namespace gradus::test
