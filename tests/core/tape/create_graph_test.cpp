// Gradients of gradients: values. What passes of Tensors do to the tape: create_graph_tape_test.cpp.

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "check_op.h"
#include "core/tape/custom.h"
#include "core/tape/random_graph.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/gradcheck.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// dy/dx on the tape.
Tensor slope(const Tensor& y, const Tensor& x) { return grad(y, {x}, {.create_graph = true})[0]; }

/// x^3 with a backward for Tensors.
Tensor cube(const Tensor& x) {
  return record("cube", (x.detach() * x.detach() * x.detach()).array(), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dy * of.in(0, x).square() * 3};
                  else
                    return {(Tensor(dy) * Tensor(*x).square() * 3).array()};
                });
}

}  // namespace

TEST_CASE("create_graph: derivatives of any order, in f32 and f64") {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = leaf(tensor(2.0, dtype));
    for (const Tensor& y : {x * x * x * x, x.pow(4), x.square().square(), cube(x) * x}) {
      const Tensor first = slope(y, x), second = slope(first, x), third = slope(second, x);
      const Tensor fourth = slope(third, x);
      CHECK(first.dtype() == dtype);
      CHECK(first.item() == doctest::Approx(32));
      CHECK(second.item() == doctest::Approx(48));
      CHECK(third.item() == doctest::Approx(48));
      CHECK(fourth.item() == doctest::Approx(24));
    }
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("create_graph: the third derivative of sin(x^2), and of exp(sin x)") {
  const double a = 0.7, q = a * a, s = std::sin(a), c = std::cos(a), e = std::exp(s);
  const Tensor x = leaf(tensor(a, f64));
  const Tensor y = sin(x * x), z = exp(sin(x));
  const auto third = [&](const Tensor& f) { return slope(slope(slope(f, x), x), x).item(); };
  CHECK(third(y) == doctest::Approx(-12 * a * std::sin(q) - 8 * a * q * std::cos(q)).epsilon(1e-12));
  // e^s: c e^s; (c^2 - s) e^s; (c^3 - 3 s c - c) e^s
  CHECK(third(z) == doctest::Approx((c * c * c - 3 * s * c - c) * e).epsilon(1e-12));
}

TEST_CASE("create_graph: an op of the program's own") {
  const Tensor x = leaf(tensor({1.0, -2.0}, f64));
  const Tensor y = cube(x);
  CHECK(values(grad(y.sum(), {x}, {.retain_graph = true})[0]) == Values{3, 12});
  const Tensor first = slope(y.sum(), x), second = slope(first.sum(), x);
  CHECK(values(first) == Values{3, 12});
  CHECK(values(second) == Values{6, -12});
  CHECK(values(slope(second.sum(), x)) == Values{6, 6});
  gradgradcheck(cube, {leaf(randn({2, 3}, f64))});
}

TEST_CASE(
    "create_graph: an op whose backward is for Arrays alone says so, and where it is not reached does not") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), w = leaf(tensor({3.0, 4.0}, f64));
  const Tensor plain = custom(x * 2, [](const Array& dy, Needs) -> Grads { return {dy}; });
  const Tensor y = (plain * w * w).sum();
  check_error(
      [&] { slope(y, x); },
      "grad: custom [2] has no second derivative, which create_graph needs: its backward is written "
      "for Arrays alone, or returns no GradsOf<V>; state it for Tensors too, as core/tape/record.h shows");
  CHECK(values(slope(y, w)) == Values{12, 32});
  CHECK(values(slope(slope(y, w).sum(), w)) == Values{4, 8});
  y.backward();
  CHECK(values(x.grad()) == Values{18, 32});
}

TEST_CASE("create_graph: gradients of shared inputs and of diamonds add up") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const Tensor h = x * x, y = (h * h + h * x + x).sum();  // x^4 + x^3 + x
  const Tensor first = slope(y, x);
  CHECK(values(first) == Values{4 + 3 + 1, 32 + 12 + 1});
  CHECK(values(slope(first.sum(), x)) == Values{12 + 6, 48 + 12});
  first.sum().backward();
  CHECK(values(x.grad()) == Values{12 + 6, 48 + 12});
}

TEST_CASE("create_graph: of an inner tensor, by inner and outer ones") {
  const Tensor x = leaf(tensor(2.0, f64));
  const Tensor h = x * x, y = h * h * h;
  const std::vector<Tensor> d = grad(y, {h, x, y}, {.create_graph = true});
  CHECK(d[0].item() == 48);      // 3 h^2
  CHECK(d[1].item() == 6 * 32);  // 6 x^5
  CHECK(d[2].item() == 1);
  CHECK(slope(d[0], h).item() == 24);       // 6 h
  CHECK(slope(d[0], x).item() == 24 * 4);   // by 2 x
  CHECK(slope(d[1], x).item() == 30 * 16);  // 30 x^4
}

TEST_CASE("create_graph: through views") {
  manual_seed(1);
  const Tensor x = leaf(tensor({2.0, 3.0, 5.0}, f64));
  const Tensor y = x[0] * x[1] * x[1] + x.slice(0, 1, 3).square().sum();
  const Tensor first = slope(y, x);
  CHECK(values(first) == Values{9, 12 + 6, 10});
  CHECK(values(slope(first[1], x)) == Values{6, 4 + 2, 0});
  gradgradcheck(
      [](const Tensor& t) {
        return t.t().slice(0, 0, 3, 2).exp() * t.select(1, 2).expand({2, 4}).reshape({2, 4});
      },
      {leaf(randn({4, 3}, f64))});
}

TEST_CASE("create_graph: a grad_output on the tape has a gradient too") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), v = leaf(tensor({3.0, 4.0}, f64));
  const Tensor g = grad(x.square(), {x}, {.grad_output = v, .create_graph = true})[0];  // 2 x v
  CHECK(values(g) == Values{6, 16});
  const std::vector<Tensor> d = grad(g.sum(), {x, v}, {.create_graph = true});
  CHECK(values(d[0]) == Values{6, 8});
  CHECK(values(d[1]) == Values{2, 4});
  CHECK(values(slope(d[1].sum(), x)) == Values{2, 2});
  // Also of a linear function, whose gradient does not depend on x; and where it passes as it is.
  const Tensor linear = grad(x * 3, {x}, {.grad_output = v, .create_graph = true})[0];
  CHECK(values(grad(linear.sum(), {v})[0]) == Values{3, 3});
  const Tensor same = grad(x + 1, {x}, {.grad_output = v * v, .create_graph = true})[0];
  CHECK(values(grad(same.sum(), {v})[0]) == Values{6, 8});
}

TEST_CASE("create_graph: a linear function's gradient is a constant, and no memory of others") {
  const Tensor a = leaf(ones({2}, f64)), b = leaf(ones({2}, f64)), seed = ones({2}, f64);
  const std::vector<Tensor> d = grad(a + b, {a, b}, {.grad_output = seed, .create_graph = true});
  for (const Tensor& t : d) CHECK_FALSE(t.requires_grad());
  d[0].fill_(5);
  CHECK(values(d[1]) == Values{1, 1});
  CHECK(values(seed) == Values{1, 1});
  check_error([&] { grad(d[1], {a}, {.grad_output = seed}); },
              "grad: the output [2] does not require grad: no input did when it was computed, or NoGrad was "
              "on, or it is a gradient without create_graph, or a constant one");
}

TEST_CASE("create_graph: a closure that asks for an input the op does not have") {
  const auto wrong = [](const Tensor& x, bool asks) {
    return record("wrong", x.array(), {&x},
                  [asks, x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                    if (asks && of[1]) return {};
                    if constexpr (kTaped<V>) return {dy * of.in(3, x)};
                    return {dy};
                  });
  };
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  check_error([&] { grad(wrong(x, false).sum(), {x}, {.create_graph = true}); },
              "wrong backward: of.in(3, ...): expects the number of an input, below 1");
  check_error([&] { wrong(x, true).sum().backward(); },
              "wrong backward: of[1]: expects the number of an input, below 1");
}

TEST_CASE("create_graph: a result on the tape is no memory of others either") {
  const auto overwrite = [](const Tensor& t) {
    const NoGrad guard;
    t.fill_(7);
  };
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), w = leaf(tensor({3.0, 4.0}, f64));
  const Tensor v = leaf(tensor({5.0, 6.0}, f64));
  const auto from_v = [&](const Tensor& y, const std::vector<Tensor>& inputs) {
    return grad(y, inputs, {.grad_output = v, .create_graph = true});
  };
  // Each of these gradients is v or a view of v.
  const Tensor column = leaf(ones({2, 1}, f64)), table = leaf(ones({2, 3}, f64));
  for (const TensorList& d :
       {from_v(x + w, {x, w, x}), from_v(column.reshape({2}), {column}), from_v(table.sum(1), {table})})
    for (const Tensor& t : d) {
      const double copies = static_cast<double>(t.numel()) / 2;
      CHECK_FALSE(t.is_leaf());
      CHECK(t.detach().sum().item() == 11 * copies);
      overwrite(t);
      CHECK(values(v) == Values{5, 6});
      CHECK(values(grad(t.sum(), {v})[0]) == Values(2, copies));
    }
  // The gradient that this op returns is its input.
  const Tensor half = record("half_square", (w.detach().square() / 2).array(), {&w},
                             [w = Saved(w.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                               if constexpr (kTaped<V>)
                                 return {of.in(0, w)};
                               else
                                 return {(Tensor(dy) * Tensor(*w)).array()};
                             });
  const Tensor dw = slope(half.sum(), w);
  CHECK(values(dw) == Values{3, 4});
  overwrite(dw);
  CHECK(values(w) == Values{3, 4});
  CHECK(values(slope(dw.sum(), w)) == Values{1, 1});
  // The gradient of h is saved for that of x: 2 x w^2, whose derivative in w is 4 x w.
  const Tensor h = x * w;
  const std::vector<Tensor> d = grad((h * h).sum(), {h, x}, {.create_graph = true});
  overwrite(d[0]);
  CHECK(values(slope(d[1].sum(), w)) == Values{12, 32});
  // Under NoGrad the copy is on the tape, too.
  const Tensor sum = x + w;
  const NoGrad guard;
  const Tensor dx = from_v(sum, {x})[0];
  CHECK(values(grad(dx, {v}, {.grad_output = ones({2}, f64)})[0]) == Values{1, 1});
}

TEST_CASE("create_graph: unused inputs") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), w = leaf(ones({3}, f64));
  const Tensor y = x.square().sum();
  check_error(
      [&] {
        grad(y, {x, w}, {.create_graph = true});
      },
      "grad: input 1 [3] was not used to make the output, or no gradient flows to it: leave it out, "
      "set allow_unused for an undefined tensor in its place, or call requires_grad_() before it is used");
  const std::vector<Tensor> d = grad(y, {w, x}, {.create_graph = true, .allow_unused = true});
  CHECK_FALSE(d[0].defined());
  CHECK(values(slope(d[1].sum(), x)) == Values{2, 2});
}

TEST_CASE("create_graph: a gradient penalty through backward") {
  manual_seed(2);
  const Tensor x = randn({4, 3}, f64), w = leaf(randn({3, 5}, f64)), v = leaf(randn({5, 1}, f64));
  const auto loss = [&] {
    const EnableGrad guard;  // gradcheck takes differences under NoGrad
    const Tensor at = leaf(x.clone());
    const Tensor score = matmul(tanh(matmul(at, w)), v).sum();
    return score + (slope(score, at).square().sum(1).sqrt() - 1).square().mean();
  };
  gradcheck(loss, {w, v});
  loss().backward();
  CHECK(w.grad().defined());
  CHECK(allclose(w.grad(), grad(loss(), {w})[0]));
}

TEST_CASE("create_graph: random graphs have the gradients of a plain pass, and right second ones") {
  std::mt19937 random(7);
  manual_seed(7);
  const auto graph = [&](std::uint32_t seed, const std::vector<Tensor>& inputs) {
    std::mt19937 choose(seed);
    std::vector<Tensor> all = inputs;
    for (int i = 0; i < 8; ++i) grow(all, choose);
    return tanh(all.back()) + all[all.size() - 2] * 0.1;
  };
  for (int trial = 0; trial < 60; ++trial) {
    const auto seed = static_cast<std::uint32_t>(random());
    const std::vector<Tensor> x = {leaf(randn({2, 3}, f64) * 0.5), leaf(randn({2, 3}, f64) * 0.5)};
    const Tensor y = graph(seed, x).sum();
    if (!y.requires_grad()) continue;
    const std::vector<Tensor> plain = grad(y, x, {.retain_graph = true, .allow_unused = true});
    const std::vector<Tensor> taped = grad(y, x, {.create_graph = true, .allow_unused = true});
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(plain[i].defined() == taped[i].defined());
      if (plain[i].defined()) REQUIRE(allclose(plain[i], taped[i], 1e-10, 1e-10));
    }
    if (trial % 6 == 0) gradgradcheck([&](const std::vector<Tensor>& in) { return graph(seed, in); }, x);
  }
}

}  // namespace gradus::test
