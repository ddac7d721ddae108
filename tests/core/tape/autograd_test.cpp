#include "gradus/core/tape/autograd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "check_op.h"
#include "core/tape/custom.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/error.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/tape/scope.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::custom;
using gradus::test::gradient;
using gradus::test::kUndefined;
using gradus::test::leaf;
using gradus::test::Values;

TEST_CASE("the chain rule on a small example") {
  const Tensor a = leaf(3), b = leaf(4);
  const Tensor y = a * b + a;
  y.backward();
  CHECK(gradient(a) == 5);
  CHECK(gradient(b) == 3);
  CHECK_FALSE(y.grad().defined());
}

TEST_CASE("a value used twice counts twice") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;      // 2x
  const Tensor z = y + y;      // 4x
  const Tensor w = z * y + x;  // 2 x^4 + x -> 8 x^3 + 1
  w.backward();
  CHECK(gradient(x) == 8 * 27 + 1);

  // 40 diamonds on top of each other: 2^40 paths, each node visited once.
  const Tensor root = leaf(1);
  Tensor top = root;
  for (int i = 0; i < 40; ++i) top = top + top;
  top.backward();
  CHECK(gradient(root) == std::ldexp(1.0, 40));
}

TEST_CASE("an input used before and after others accumulates all gradients before it is visited") {
  const Tensor x = leaf(2);
  const Tensor early = x * 3;
  const Tensor late = early * early + x * early;  // 9x^2 + 3x^2
  late.backward();
  CHECK(gradient(x) == 24 * 2);
}

TEST_CASE("gradients add up until zero_grad") {
  const Tensor x = leaf(2);
  (x * 5).backward();
  (x * 7).backward();
  CHECK(gradient(x) == 12);
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
  (x * 1).backward();
  CHECK(gradient(x) == 1);
  x.set_grad(tensor(10.0));
  (x * 1).backward();
  CHECK(gradient(x) == 11);
}

TEST_CASE("gradients have their own memory") {
  const Tensor x = leaf(ones({2})), y = leaf(ones({2}));
  const Tensor seed = full({2}, 3.0);
  (x + y).backward(seed);
  CHECK_FALSE(x.grad().array().storage() == y.grad().array().storage());
  CHECK_FALSE(x.grad().array().storage() == seed.array().storage());
  {
    const NoGrad guard;
    x.grad().fill_(0);
  }
  CHECK(y.grad().to_vector<double>() == Values{3, 3});
  const Tensor given = full({2}, 5.0);
  x.set_grad(given);
  (x * 1).backward(seed);
  CHECK(given.to_vector<double>() == Values{5, 5});
  CHECK(x.grad().to_vector<double>() == Values{8, 8});
}

TEST_CASE("backward from a leaf and with a seed") {
  const Tensor x = leaf(2);
  x.backward();
  CHECK(gradient(x) == 1);
  const Tensor v = leaf(tensor({1.0, 2.0}));
  (v * v).backward(tensor({10.0, 100.0}));
  CHECK(v.grad().to_vector<double>() == Values{20, 400});
}

TEST_CASE("backward: errors") {
  const Tensor x = leaf(ones({2, 3}));
  check_error(
      [&] { (x * 2).backward(); },
      "backward: expects one element, got shape [2, 3]: reduce it with sum() or mean(), or pass a gradient");
  check_error([&] { (x * 2).backward(ones({3})); }, "backward: expects a gradient f32 [2, 3], got f32 [3]");
  check_error(
      [&] {
        (x * 2).backward(ones({2, 3}, f64));
      },
      "backward: expects a gradient f32 [2, 3], got f64 [2, 3]");
  check_error(
      [] { tensor(1.0).backward(); },
      "backward: the tensor [] does not require grad: no input did when it was computed, or NoGrad was on, "
      "or it is a gradient without create_graph, or a constant one");
  check_error([] { Tensor().backward(); }, "backward" + kUndefined);
  check_error([&] { (x * 2).backward(Tensor()); },
              "backward: the gradient is undefined: assign it first; a grad() is undefined before backward");
}

TEST_CASE("the error of a second backward gives the remedy, and retain_graph allows it") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;
  y.backward(/*retain_graph=*/true);
  y.backward();
  CHECK(gradient(x) == 12);
  check_error([&] { y.backward(); },
              "backward: mul [] was already passed by a backward that freed what it saved: call "
              "backward(/*retain_graph=*/true) the first time, or run the forward pass again");
  // Part of a tape that another backward has freed.
  const Tensor shared = x * 2;
  (shared * 3).backward();
  const Scope scope(intern("decoder"));
  const Tensor other = shared * 5;
  CHECK_THROWS_WITH_AS(other.backward(), doctest::Contains("was already passed by a backward"), Error);
  CHECK(gradient(x) == 18);  // nothing was added by the failed passes
}

TEST_CASE("frozen leaves and detached values get nothing") {
  Tensor x = leaf(2);
  const Tensor y = leaf(3);
  const Tensor before = x * y;
  x.requires_grad_(false);
  const Tensor after = x * y;
  after.backward();
  CHECK_FALSE(x.grad().defined());
  CHECK(gradient(y) == 2);
  before.backward();  // recorded when x wanted one, but it no longer does
  CHECK_FALSE(x.grad().defined());
  CHECK(gradient(y) == 4);
  x.requires_grad_();
  const Tensor z = x.detach() * x;
  z.backward();
  CHECK(gradient(x) == 2);
  CHECK_FALSE(x.detach().requires_grad());
}

TEST_CASE("NoGrad records nothing, on this thread, for its scope") {
  const Tensor x = leaf(2);
  const std::int64_t nodes = live_nodes();
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      CHECK_FALSE((x * x).requires_grad());
    }
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x * x).requires_grad());
    CHECK(live_nodes() == nodes);
    bool other_thread = false;
    std::thread([&] { other_thread = grad_enabled(); }).join();
    CHECK(other_thread);
  }
  CHECK((x * x).requires_grad());
}

TEST_CASE("hooks see the complete gradient, in order, and may keep it") {
  const Tensor x = leaf(2);
  const Tensor y = x * 3;
  Values seen;
  std::string order;
  y.on_grad([&](const Array& dy) { seen.push_back(dy.item()), order += "y"; });
  y.on_grad([&](const Array&) { order += "Y"; });
  x.on_grad([&](const Array& dx) { seen.push_back(dx.item()), order += "x"; });
  (y * 5 + y * 7).backward();
  CHECK(seen == Values{12, 36});
  CHECK(order == "yYx");
}

TEST_CASE("retain_grad keeps an inner gradient") {
  const Tensor x = leaf(2);
  const Tensor y = x * 3;
  y.retain_grad();
  const Tensor z = y * y;
  z.backward(true);
  CHECK(gradient(y) == 12);
  z.backward();
  CHECK(gradient(y) == 24);
  CHECK(gradient(x) == 72);
}

TEST_CASE("a mutation between forward and backward is an error, not a wrong gradient") {
  const Tensor x = leaf(tensor({1.0, 2.0})), w = tensor({3.0, 4.0});
  const Tensor y = (x * w).sum();
  w.fill_(0);
  CHECK_THROWS_WITH_AS(
      y.backward(),
      "mul backward: the f32 [2] it saved was changed in place after the forward pass: change it "
      "before the forward pass or after backward, or work on a clone()",
      Error);
  // Also through a view, and by an optimizer-like write.
  const Tensor v = leaf(tensor({1.0, 2.0}));
  const Tensor z = (v * v).sum();
  {
    const NoGrad guard;
    v[0] = 9.0;
  }
  CHECK_THROWS_WITH_AS(z.backward(), doctest::Contains("it saved was changed in place"), Error);
  // Writing to what no op saved is fine.
  const Tensor u = leaf(tensor({1.0, 2.0}));
  const Tensor doubled = u + u;
  {
    const NoGrad guard;
    u.fill_(5);
    doubled.fill_(1);
  }
  doubled.backward(ones({2}));
  CHECK(u.grad().to_vector<double>() == Values{2, 2});
}

TEST_CASE("closures that return wrong gradients are named") {
  const Tensor x = leaf(ones({2, 3}));
  check_error([&] { custom(x, [](const Array&, Needs) -> Grads { return {}; }).sum().backward(); },
              "custom backward: returned 0 gradients for 1 inputs");
  check_error(
      [&] {
        custom(x, [](const Array&, Needs) -> Grads { return {Array::zeros({3}, f32)}; }).sum().backward();
      },
      "custom backward: the gradient of input 0 is f32 [3], expects f32 [2, 3]");
  check_error(
      [&] { custom(x, [](const Array& dy, Needs) -> Grads { return {dy.to(f64)}; }).sum().backward(); },
      "custom backward: the gradient of input 0 is f64 [2, 3], expects f32 [2, 3]");
  custom(x, [](const Array&, Needs) -> Grads { return {Array()}; }).sum().backward();  // none flows: fine
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Needs tells which inputs want a gradient") {
  const Tensor x = leaf(1), y = tensor(2.0);
  std::string needed;
  const Tensor z = record("pair", x.array().clone(), {&x, &y}, [&](const Array& dy, Needs needs) -> Grads {
    needed = fmt::format("{} {}", needs[0], needs[1]);
    return {dy, dy};  // the second is dropped
  });
  z.backward();
  CHECK(needed == "true false");
  CHECK_FALSE(y.grad().defined());
}
