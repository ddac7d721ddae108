// Gradients as values, and hooks that replace one.

#include "gradus/core/tape/grad.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check_op.h"
#include "core/tape/custom.h"
#include "core/tape/random_graph.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {

TEST_CASE("grad: the values of backward, and no grad is changed") {
  const Tensor x = leaf(tensor({1.0, 2.0})), w = leaf(tensor({3.0, 4.0}));
  const Tensor h = x * w, y = (h * h + w).sum();
  h.retain_grad();
  const std::vector<Tensor> d = grad(y, {w, h, x, y, w}, {.retain_graph = true});
  CHECK(values(d[0]) == Values{7, 33});
  CHECK(values(d[1]) == Values{6, 16});
  CHECK(values(d[2]) == Values{18, 64});
  CHECK(d[3].item() == 1);
  CHECK(values(d[4]) == values(d[0]));
  for (const Tensor& t : {x, w, h}) CHECK_FALSE(t.grad().defined());
  for (const Tensor& t : d) CHECK_FALSE(t.requires_grad());
  y.backward();
  CHECK(values(w.grad()) == values(d[0]));
  CHECK(values(h.grad()) == values(d[1]));
}

TEST_CASE("grad: seeded with a gradient, whose memory is not shared") {
  const Tensor x = leaf(tensor({1.0, 2.0})), seed = tensor({10.0, 100.0});
  const Tensor d = grad(x + 0, {x}, {.grad_output = seed})[0];
  CHECK(values(d) == Values{10, 100});
  d.fill_(0);
  CHECK(values(seed) == Values{10, 100});
  const std::vector<Tensor> both = [&] {
    const Tensor a = leaf(ones({2})), b = leaf(ones({2}));
    return grad((a + b).sum(), {a, b});
  }();
  both[0].fill_(5);  // d(a + b) is one array in backward
  CHECK(values(both[1]) == Values{1, 1});
}

TEST_CASE("grad: follows only paths to an input, and does not change other gradients") {
  const Tensor x = leaf(2), w = leaf(5);
  int below = 0, beside = 0;
  bool needed = true;
  const auto counted = [](const Tensor& t, int* calls) {
    return custom(t, [calls](const Array& dy, Needs) -> Grads { return ++*calls, Grads{dy}; });
  };
  const Tensor h = counted(x, &below) * 3, side = counted(w, &beside);
  const Tensor both =
      record("both", h.array().clone(), {&h, &side}, [&](const Array& dy, Needs needs) -> Grads {
        needed = needs[1];
        return {dy, dy};
      });
  const Tensor y = both * both;
  const Tensor dh = grad(y, {h})[0];
  CHECK(dh.item() == 12);
  CHECK(below == 0);
  CHECK(beside == 0);
  CHECK_FALSE(needed);
  h.backward(dh);  // what lies below was not freed
  CHECK(gradient(x) == 36);
  CHECK(below == 1);
  (side * 2).backward();
  CHECK(gradient(w) == 2);
  CHECK_THROWS_WITH_AS(
      grad(y, {w}),
      "grad: mul [] was already passed by a grad, vjp or hvp that freed what it saved: set its "
      "create_graph if the result is to be differentiated, else its retain_graph; detach() what is a "
      "constant; or run the forward pass again",
      Error);
  CHECK_THROWS_WITH_AS(y.backward(),
                       doctest::Contains("backward: mul [] was already passed by a grad, vjp or hvp"), Error);
}

TEST_CASE("grad: in random graphs, bit for bit what backward adds, for leaves and inner tensors") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Tensor> all;
    for (int i = 0; i < 3; ++i) all.push_back(leaf(randn({2, 3}, f64)));
    for (int i = 0; i < 12; ++i) grow(all, random);
    const Tensor y = all.back().sum();
    std::vector<Tensor> wanted;
    for (const Tensor& t : all)
      if (random() % 3 == 0) wanted.push_back(t);
    if (wanted.empty()) wanted.push_back(all[0]);
    const std::vector<Tensor> d = grad(y, wanted, {.retain_graph = true, .allow_unused = true});
    for (const Tensor& t : all) REQUIRE_FALSE(t.grad().defined());
    for (const Tensor& t : wanted) t.retain_grad();
    y.backward();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      REQUIRE(d[i].defined() == wanted[i].grad().defined());
      if (d[i].defined()) REQUIRE(values(d[i]) == values(wanted[i].grad()));
    }
  }
}

TEST_CASE("grad: through a checkpoint, of what its function uses") {
  const Tensor x = leaf(tensor({0.5, 1.0})), w = leaf(tensor({2.0, 3.0})), other = leaf(tensor(4.0));
  const Tensor y = checkpoint([w, other](const Tensor& t) { return sin(t * w) * other; }, x).sum();
  CHECK(values(grad(y, {w}, {.retain_graph = true})[0]) == values(grad((sin(x * w) * other).sum(), {w})[0]));
  CHECK(grad(y, {other})[0].item() == doctest::Approx(std::sin(1.0) + std::sin(3.0)));
  CHECK_FALSE(w.grad().defined());
  CHECK_FALSE(other.grad().defined());
}

TEST_CASE("grad: frees the visited tape unless retain_graph is set, also after an error, and leaks nothing") {
  const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
  {
    const Tensor x = leaf(2);
    const Tensor y = x * x;
    CHECK(grad(y, {x}, {.retain_graph = true})[0].item() == 4);
    CHECK(grad(y, {x})[0].item() == 4);
    CHECK_THROWS_WITH_AS(grad(y, {x}), doctest::Contains("already passed"), Error);
    bool fails = true;
    const Tensor z = custom(x * 3, [&](const Array& dy, Needs) -> Grads {
      if (fails) throw Error("backward");
      return {dy};
    });
    const Tensor top = z * 2;
    CHECK_THROWS_WITH(grad(top, {x}, {.retain_graph = true}), "backward");
    fails = false;
    CHECK(grad(top, {x})[0].item() == 6);
  }
  CHECK(live_nodes() == nodes);
  CHECK(memory_stats().live_bytes == bytes);
}

TEST_CASE("grad: refuses a freed node, as it may have led to an input, but not one at which it ends") {
  const Tensor x = leaf(3);
  const Tensor h = x * x;
  h.backward();
  const std::string freed =
      "grad: mul [] was already passed by a backward that freed what it saved: call "
      "backward(/*retain_graph=*/true) the first time, or run the forward pass again";
  // d(h x)/dx is 27; without the way through h it would be 9.
  const std::vector<std::vector<Tensor>> ways = {{x}, {h, x}, {x, h}};
  for (const std::vector<Tensor>& inputs : ways)
    for (const bool create : {false, true})
      check_error([&] { grad(h * x, inputs, {.create_graph = create}); }, freed);
  check_error([&] { grad(h * 2, {x}, {.allow_unused = true}); }, freed);
  CHECK(grad(h * x, {h})[0].item() == 3);
  CHECK(grad(h.detach() * x, {x})[0].item() == 9);
  const Tensor later = leaf(5);
  CHECK(grad(h * later, {later})[0].item() == 9);  // h is older: nothing leads back to it
}

TEST_CASE("grad: a hook may ask for the gradient of something else by its own tensor") {
  const Tensor w = leaf(5), x = leaf(2);
  const Tensor h = x * x;
  Values seen;
  bool inside = false;
  h.on_grad([&](const Array&) {
    if (std::exchange(inside, true)) return;  // those passes call it, too
    for (const bool create : {false, true}) {
      seen.push_back(grad(h * h, {h}, {.create_graph = create})[0].item());
      for (const Tensor& d : grad(h * h * w, {h, w}, {.create_graph = create})) seen.push_back(d.item());
    }
    // This would go through h, which the pass around it has to itself.
    check_error(
        [&] { grad(h * h, {x}); },
        "grad: mul [] is being passed by another backward, of another thread or around this one: set "
        "retain_graph, grad(y, {x}, {.retain_graph = true}), in both, or run the forward pass once for "
        "each");
  });
  (h * 3).backward();
  CHECK(seen == Values{8, 40, 16, 8, 40, 16});
  CHECK(gradient(x) == 12);
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("grad: by a tensor that a pass of another thread has to itself") {
  const Tensor x = leaf(2);
  const Tensor h = x * x, top = h * 3;
  double found = 0;
  std::string error;
  const auto other = [&] {
    try {
      found = grad(h * h, {h})[0].item();
    } catch (const Error& e) {
      error = e.what();
    }
  };
  top.on_grad([&](const Array&) { std::thread(other).join(); });
  top.backward();
  CHECK(error == "");
  CHECK(found == 8);
  CHECK(gradient(x) == 12);
}

TEST_CASE("grad: threads may end at the same inner tensors, and free what is above") {
  const Tensor w = leaf(5), x = leaf(2);
  const Tensor h = (x * 1) * x;  // newer than w: each pass looks beyond it
  std::vector<std::string> errors(3);
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < errors.size(); ++id)
    threads.emplace_back([&, id] {
      try {
        for (int round = 0; round < 2000; ++round)
          if (grad(h * h * w, {h, w})[1].item() != 16) throw Error("a wrong gradient");
      } catch (const Error& error) {
        errors[id] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(errors == std::vector<std::string>(3));
  h.backward();
  CHECK(gradient(x) == 4);
}

TEST_CASE("grad: one that fails leaves every node as it was") {
  const Tensor x = leaf(2);
  const Tensor h = x * x, scaled = x * 5, y = h * 3, z = (h + scaled) * scaled;
  const auto fails = [&](const Tensor& from) {
    CHECK_THROWS_WITH_AS(grad(from, {x}), doctest::Contains("mul [] is being passed"), Error);
  };
  y.on_grad([&](const Array&) { fails(z); });
  y.backward(/*retain_graph=*/true);  // shares h; z's other nodes were free
  CHECK(gradient(x) == 12);
  scaled.backward(/*retain_graph=*/true);
  y.backward();  // h is this pass's alone
  CHECK(gradient(x) == 12 + 5 + 12);
  CHECK_THROWS_WITH_AS(grad(z, {x}), doctest::Contains("mul [] was already passed"), Error);
  (scaled * 2).backward();  // frees it: nobody else holds it
  CHECK(gradient(x) == 29 + 10);
}

TEST_CASE("grad: several threads through one tape") {
  const Tensor x = leaf(randn({50}, f64)), w = leaf(randn({50}, f64));
  const Tensor y = (tanh(x * w) * w).sum();
  const std::vector<Tensor> alone = grad(y, {x, w}, {.retain_graph = true});
  std::vector<int> wrong(3);
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < 3; ++id)
    threads.emplace_back([&, id] {
      for (int round = 0; round < 100; ++round) {
        const Tensor d = grad(y, {id == 0 ? x : w}, {.retain_graph = true})[0];
        wrong[id] += values(d) != values(alone[id == 0 ? 0 : 1]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3));
}

TEST_CASE("grad: errors") {
  const Tensor x = leaf(tensor({1.0, 2.0})), w = leaf(ones({3})), constant = ones({2});
  const Tensor y = x * 2;
  check_error([&] { grad(Tensor(), {x}); }, "grad: the output" + kUndefined.substr(kUndefined.find(" is")));
  check_error(
      [&] { grad(y, {x}); },
      "grad: expects an output of one element, got shape [2]: reduce it with sum() or mean(), or give "
      "grad_output");
  check_error([&] { grad(y, {x}, {.grad_output = ones({2}, f64)}); },
              "grad: expects grad_output f32 [2], as the output is, got f64 [2]");
  check_error(
      [&] { grad(constant.sum(), {x}); },
      "grad: the output [] does not require grad: no input did when it was computed, or NoGrad was on, "
      "or it is a gradient without create_graph, or a constant one");
  check_error([&] { grad(y.sum(), {}); }, "grad: got no inputs: name the tensors whose gradients are wanted");
  check_error([&] { grad(y.sum(), {x, Tensor()}); }, "grad: input 1 is an undefined tensor");
  check_error([&] { grad(y.sum(), {constant}); },
              "grad: input 0 [2] does not require grad: call requires_grad_() on it before it is used");
  check_error(
      [&] {
        grad(y.sum(), {x, w});
      },
      "grad: input 1 [3] was not used to make the output, or no gradient flows to it: leave it out, "
      "set allow_unused for an undefined tensor in its place, or call requires_grad_() before it is used");
  const std::vector<Tensor> d = grad((x * 2).sum(), {w, x}, {.allow_unused = true});
  CHECK_FALSE(d[0].defined());
  CHECK(values(d[1]) == Values{2, 2});
}

TEST_CASE("hooks: a returned tensor replaces the gradient, for the next hook and everything after") {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor h = x * 3;
  Values seen;
  h.on_grad([&](const Array& dh) { seen.push_back(dh.at({0})); });
  h.on_grad([](const Tensor& dh) { return dh * 10; });
  h.on_grad([&](const Array& dh) -> Array { return seen.push_back(dh.at({0})), Array(); });
  h.on_grad([](const Array& dh) { return (Tensor(dh) + 1).array(); });
  h.retain_grad();
  (h * 2).sum().backward(true);
  CHECK(seen == Values{2, 20});
  CHECK(values(h.grad()) == Values{21, 21});
  CHECK(values(x.grad()) == Values{63, 63});
  CHECK(values(grad((h * 2).sum(), {h})[0]) == Values{21, 21});
}

TEST_CASE("hooks: a leaf's replaced gradient is added to its grad, and is its own memory") {
  const Tensor w = leaf(tensor({1.0, 2.0})), kept = tensor({5.0, 6.0});
  w.on_grad([kept](const Tensor&) { return kept; });
  w.sum().backward();
  w.sum().backward();
  CHECK(values(w.grad()) == Values{10, 12});
  w.grad().fill_(0);
  CHECK(values(kept) == Values{5, 6});
  // Any layout works, and a diamond's gradient is complete when it is replaced.
  const Tensor x = leaf(ones({2, 3})), y = x * 1;
  y.on_grad([](const Tensor& dy) { return (dy.t() * 2).t(); });
  (y + y * 4).sum().backward();
  CHECK(values(x.grad()) == Values(6, 10));
}

TEST_CASE("hooks: one that returns another shape or dtype is an error, as is NaN under DetectAnomaly") {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const auto hooked = [&](auto hook) {
    const Tensor y = x * 3;
    y.on_grad(hook);
    y.sum().backward();
  };
  check_error([&] { hooked([](const Tensor& dy) { return dy.sum(); }); },
              "on_grad: a hook of mul f32 [2] returned a gradient f32 []");
  check_error([&] { hooked([](const Tensor& dy) { return dy.to(f64); }); },
              "on_grad: a hook of mul f32 [2] returned a gradient f64 [2]");
  CHECK_FALSE(x.grad().defined());
  const DetectAnomaly guard;
  check_error([&] { hooked([](const Tensor& dy) { return dy * NAN; }); },
              "detect_anomaly: mul produced NaN in its output [2]");
  check_error([&] { hooked([](const Tensor& dy) { return full({2}, NAN, dy.dtype()); }); },
              "detect_anomaly: a hook of mul [2] was passed or returned NaN");
}

}  // namespace gradus::test
