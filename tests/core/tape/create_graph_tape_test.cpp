// Passes of Tensors and the tape: hooks, versions, threads, NoGrad, freed and deep graphs, leaks.

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "check_op.h"
#include "core/tape/custom.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/functional.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

Tensor slope(const Tensor& y, const Tensor& x) { return grad(y, {x}, {.create_graph = true})[0]; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kProducts = 3000;  // their records of each allocation take memory
#else
constexpr int kProducts = 30000;
#endif

}  // namespace

TEST_CASE(
    "create_graph: hooks that take a Tensor are part of the graph, those that observe an Array may stay") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), factor = leaf(tensor({3.0, 5.0}, f64));
  const Tensor h = x * x;
  Values seen;
  h.on_grad([&](const Array& dh) { seen.push_back(dh.at({0})); });
  h.on_grad([factor](const Tensor& dh) { return dh * factor; });
  h.on_grad([&](const Tensor& dh) { seen.push_back(dh[0].item()); });
  const Tensor g = slope((h * 2).sum(), x);  // 2 factor 2 x
  CHECK(seen == Values{2, 6});
  CHECK(values(g) == Values{12, 40});
  const std::vector<Tensor> d = grad(g.sum(), {x, factor}, {.create_graph = true});
  CHECK(values(d[0]) == Values{12, 20});
  CHECK(values(d[1]) == Values{4, 8});
  // On an input: its gradient, in each pass.
  const Tensor t = leaf(tensor(3.0, f64));
  t.on_grad([](const Tensor& dt) { return dt * 10; });
  const Tensor first = slope(t * t, t);
  CHECK(first.item() == 60);
  CHECK(slope(first, t).item() == 200);
}

TEST_CASE("create_graph: a hook that returns an Array is an error, as it would leave the tape") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const Tensor h = x * x;
  h.on_grad([](const Array& dh) { return (Tensor(dh) * 2).array(); });
  const Tensor y = h.sum();
  check_error([&] { slope(y, x); },
              "on_grad: a hook of mul [2] returned an Array where create_graph needs a gradient on the tape: "
              "let it take and return a Tensor");
  y.backward();
  CHECK(values(x.grad()) == Values{4, 8});
  const Tensor other = x * x;
  other.on_grad([](const Tensor& dh) { return dh.sum(); });
  check_error([&] { slope(other.sum(), x); }, "on_grad: a hook of mul f64 [2] returned a gradient f64 []");
}

TEST_CASE("create_graph: adds to no grad; a later backward does, also of inner tensors that retain theirs") {
  const Tensor x = leaf(tensor(1.0, f64));
  const Tensor h = x * 2;
  h.retain_grad();
  const Tensor g = slope(h * h * h, x);  // 3 h^2 by 2
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(h.grad().defined());
  CHECK(g.item() == 24);
  g.backward();
  CHECK(h.grad().item() == 24);  // 12 h
  CHECK(x.grad().item() == 48);
}

TEST_CASE("create_graph: DetectAnomaly names the op whose gradient has a NaN") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const auto with = [&](auto derivative) {
    return record("odd", x.array().clone(), {&x}, [derivative]<class V>(const V& dy, auto) -> GradsOf<V> {
      if constexpr (kTaped<V>)
        return {derivative(dy)};
      else
        return {dy};
    });
  };
  const Tensor y = with([](const Tensor& dy) { return Tensor(Array::full(dy.shape(), kNan, dy.dtype())); });
  const Tensor z = with([](const Tensor& dy) { return dy * kNan; });
  const DetectAnomaly guard;
  check_error([&] { slope(y.sum(), x); },
              "detect_anomaly: odd backward produced NaN in the gradient of input 0 [2]");
  check_error([&] { slope(z.sum(), x); }, "detect_anomaly: mul produced NaN in its output [2]");
  const Tensor good = x * x;
  CHECK(values(slope(slope(good.sum(), x).sum(), x)) == Values{2, 2});
}

TEST_CASE(
    "create_graph: a closure that returns too few or too many gradients is an error that names its op") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  for (const std::size_t count : {0U, 2U}) {
    const Tensor y =
        record("odd", x.array().clone(), {&x}, [count]<class V>(const V& dy, auto) -> GradsOf<V> {
          if constexpr (kTaped<V>)
            return GradsOf<V>(count, dy);
          else
            return {dy};
        });
    check_error([&] { slope(y.sum(), x); },
                "odd backward: returned " + std::to_string(count) + " gradients for 1 inputs");
  }
}

TEST_CASE("create_graph: a write before the first pass or between the passes is an error that names the op") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const auto write = [&] {
    const NoGrad guard;
    x.fill_(3);
  };
  const Tensor y = (x * x * x).sum();
  const Tensor g = slope(y, x);
  write();
  CHECK_THROWS_WITH_AS(slope(y, x), doctest::Contains("mul backward: the f64 [2] it saved was changed"),
                       Error);
  CHECK_THROWS_WITH_AS(g.sum().backward(),
                       doctest::Contains("mul backward: the f64 [2] it saved was changed"), Error);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("create_graph: several threads through one graph, and through its created one") {
  manual_seed(1);
  const Tensor x = leaf(randn({20}, f64)), w = leaf(randn({20}, f64));
  const Tensor y = (tanh(x * w) * w * x).sum();
  const std::vector<Tensor> shared = grad(y, {x, w}, {.create_graph = true});
  const std::vector<Tensor> alone = {slope((shared[0] * w).sum(), x), slope((shared[1] * x).sum(), w)};
  std::vector<int> wrong(3);
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < wrong.size(); ++id)
    threads.emplace_back([&, id] {
      const bool first = id == 0;
      for (int round = 0; round < 50; ++round) {
        const std::vector<Tensor> own = grad(y, {x, w}, {.create_graph = true});
        for (const std::vector<Tensor>* g : {&shared, &own}) {
          const Tensor second = first ? slope(((*g)[0] * w).sum(), x) : slope(((*g)[1] * x).sum(), w);
          wrong[id] += values(second) != values(alone[first ? 0 : 1]);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3));
}

TEST_CASE("create_graph: inside NoGrad, also nested, the gradients are on the tape and NoGrad stays on") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const Tensor h = x * x, y = (h * x + h).sum();  // x^3 + x^2
  const NoGrad outer;
  const Tensor first = slope(y, x);
  CHECK_FALSE(grad_enabled());
  CHECK(first.requires_grad());
  CHECK_FALSE((first * 2).requires_grad());
  const Tensor total = [&] {
    const EnableGrad on;
    {
      const NoGrad inner;
      CHECK(values(grad(first, {x}, {.grad_output = ones({2}, f64), .create_graph = true})[0]) ==
            Values{8, 14});
      CHECK_FALSE(grad_enabled());
    }
    return first.sum();
  }();
  CHECK(values(grad(total, {x})[0]) == Values{8, 14});
  CHECK_FALSE(grad_enabled());
  // A hook is part of the pass.
  const Tensor t = leaf(tensor(3.0, f64));
  t.on_grad([factor = leaf(tensor(2.0, f64))](const Tensor& dt) { return dt * factor; });
  const Tensor s = [&] {
    const EnableGrad on;
    return t * 5;
  }();
  CHECK(slope(s, t).requires_grad());
}

TEST_CASE("create_graph: keeps the graph; one that is freed says so") {
  const Tensor x = leaf(tensor(2.0, f64));
  const Tensor h = exp(x), y = h * h;
  const Tensor g = slope(y, x);
  CHECK(slope(y, x).item() == g.item());
  y.backward();  // also frees what the created graph leads back through
  CHECK(x.grad().item() == doctest::Approx(g.item()));
  CHECK_THROWS_WITH_AS(slope(y, x), doctest::Contains("grad: mul [] was already passed by a backward"),
                       Error);
  CHECK_THROWS_WITH_AS(g.backward(), doctest::Contains("backward: exp [] was already passed by a backward"),
                       Error);
  const Tensor z = x * x * x;
  const Tensor d = slope(z, x);
  d.backward();
  CHECK_THROWS_WITH_AS(d.backward(), doctest::Contains("was already passed by a backward"), Error);
}

TEST_CASE("create_graph: a checkpointed function may use its own gradient") {
  // f descends its energy; `both` asks for w's gradient too, so that the pass looks beyond its input.
  for (const bool both : {false, true})
    for (const bool retain : {false, true}) {
      const auto gradients = [=](bool on) {
        const Tensor w = leaf(tensor({0.5, -1.0}, f64)), u = leaf(tensor({1.0, 2.0}, f64));
        const auto f = [=](const Tensor& x) {
          const Tensor energy = sin(x * w).sum();
          if (!both) return x - slope(energy, x);
          const std::vector<Tensor> d = grad(energy, {x, w}, {.create_graph = true});
          return x - d[0] * d[1];
        };
        const auto call = [&](const Tensor& x) { return on ? checkpoint(f, x) : f(x); };
        const Tensor y = call(u * 2);
        (y * y).sum().backward(retain);
        return std::vector<Tensor>{u.grad(), w.grad()};
      };
      const auto with = gradients(true), without = gradients(false);
      for (std::size_t i = 0; i < with.size(); ++i) CHECK(allclose(with[i], without[i], 1e-12, 1e-12));
    }
}

TEST_CASE("create_graph: vjp and hvp of a closure free what leads to its inputs, jvp does not") {
  const Tensor w = leaf(tensor({1.0, 2.0}, f64)), v = tensor({1.0, 10.0}, f64);
  const char* const freed = "grad: mul [2] was already passed by a grad, vjp or hvp";
  const auto with = [&](const Tensor& h) { return [h] { return (h * h).sum(); }; };
  const auto cube_of = [&] { return with(w * w * w); };  // w^6: 6 w^5, 30 w^4
  const auto again = cube_of();
  for (int round = 0; round < 2; ++round) {
    CHECK(jvp(again, {w}, {v}).second[0].item() == 6 + 6 * 32 * 10);
    CHECK(values(hvp(again, {w}, {v}, {.create_graph = true})[0]) == Values{30, 30 * 16 * 10});
  }
  CHECK(values(hvp(again, {w}, {v})[0]) == Values{30, 30 * 16 * 10});
  CHECK_THROWS_WITH_AS(hvp(again, {w}, {v}), doctest::Contains(freed), Error);
  const auto once = cube_of();
  CHECK(values(vjp(once, {w}).second[0]) == Values{6, 6 * 32});
  CHECK_THROWS_WITH_AS(vjp(once, {w}), doctest::Contains(freed), Error);
}

TEST_CASE("create_graph: set_grad copies a gradient that is on the tape") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64));
  const Tensor g = grad(x.pow(3).sum(), {x}, {.create_graph = true})[0];
  x.set_grad(g);
  x.grad().fill_(0);
  CHECK(values(g) == Values{3, 12});
  CHECK(values(grad((g * g).sum(), {x})[0]) == Values{36, 288});
}

TEST_CASE("create_graph: graphs of 150,000 ops") {
  const std::int64_t nodes = live_nodes();
  {
    const Tensor x = leaf(tensor(1.0, f64)), v = leaf(tensor(1.0, f64));
    Tensor y = x;
    for (int i = 0; i < 150000; ++i) y = y * 1.0;
    const Tensor g = grad(y, {x}, {.grad_output = v, .create_graph = true})[0];  // as deep, from v
    CHECK(g.requires_grad());
    CHECK(slope(g, v).item() == 1);
    g.backward();
    CHECK(gradient(v) == 1);
  }
  CHECK(live_nodes() == nodes);
  {
    const Tensor x = leaf(tensor(1.0, f64));
    Tensor y = x;
    for (int i = 0; i < kProducts; ++i) y = y * x;  // each with four ops in the created graph
    const Tensor g = slope(y, x);
    CHECK(g.item() == kProducts + 1.0);
    g.backward();
    CHECK(gradient(x) == (kProducts + 1.0) * kProducts);
  }
  CHECK(live_nodes() == nodes);
}

TEST_CASE(
    "create_graph: 10,000 steps leak neither nodes nor bytes, with or without a backward, or an error") {
  const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
  {
    const Tensor w = leaf(ones({3}, f64)), x = full({3}, 0.5, f64);
    std::int64_t steady_nodes = 0, steady_bytes = 0;
    for (int step = 0; step < 10000; ++step) {
      const Tensor at = leaf(x.clone());
      const Tensor y = (tanh(at * w) * w).sum();
      const Tensor g = slope(y, at);
      if (step % 3 == 0) {
        (y + g.square().sum()).backward();
        const NoGrad guard;
        w -= w.grad() * 1e-4;
        w.zero_grad();
      } else if (step % 3 == 1) {
        (void)slope(g.sum(), at);  // dropped
      } else {
        const Tensor failing = custom(at * g, [](const Array&, Needs) -> Grads { throw Error("broken"); });
        CHECK_THROWS_WITH(slope(failing.sum(), at), doctest::Contains("custom [3] has no second derivative"));
        CHECK_THROWS_WITH(failing.sum().backward(), "broken");
      }
      if (step == 2) steady_nodes = live_nodes(), steady_bytes = memory_stats().live_bytes;
      if (step % 3 == 2 && step > 2 && (live_nodes() != steady_nodes)) FAIL("nodes at step ", step);
      if (step % 3 == 2 && step > 2 && memory_stats().live_bytes != steady_bytes)
        FAIL("bytes at step ", step);
    }
  }
  CHECK(live_nodes() == nodes);
  CHECK(memory_stats().live_bytes == bytes);
}

}  // namespace gradus::test
