// Backward passes that share nodes: of several threads, and one inside another.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::leaf;
using gradus::test::Values;

namespace {

/// Runs job(0) .. job(threads - 1), each on a separate thread; they begin together.
void at_once(int threads, const std::function<void(int)>& job) {
  std::atomic<int> ready{0};
  std::vector<std::thread> running;
  for (int id = 0; id < threads; ++id)
    running.emplace_back([&, id] {
      for (++ready; ready < threads;) std::this_thread::yield();
      job(id);
    });
  for (std::thread& thread : running) thread.join();
}

/// Trains when it is destroyed, after main and after this thread's thread-locals.
struct Late {
  Tensor w;
  ~Late() {
    if (!w.defined()) return;
    const double before = w.grad().item();
    (w * 2).backward();
    if (w.grad().item() != before + 2) std::_Exit(1);
  }
} late;

}  // namespace

TEST_CASE("the destructor of a static object may run backward") {
  late.w = leaf(tensor(1.0));
  (late.w * 2).backward();
}

TEST_CASE("threads run backward through shared leaves: no gradient is lost") {
  constexpr int kThreads = 4, kRounds = 5000;
  const Tensor w = leaf(tensor({1.0, 2.0, 3.0})), b = leaf(tensor(5.0));
  at_once(kThreads, [&](int id) {
    for (int round = 0; round < kRounds; ++round) ((w * (id + 1.0)).sum() + b * w.sum()).backward();
  });
  // Whole numbers: exact in any order. d/dw = id + 1 + b, d/db = sum w.
  const double per_weight = kRounds * (1 + 2 + 3 + 4 + kThreads * 5.0);
  CHECK(w.grad().to_vector<double>() == Values(3, per_weight));
  CHECK(b.grad().item() == kThreads * kRounds * 6.0);
}

TEST_CASE("a pass accumulates its own gradients, also of a leaf that another pass visits meanwhile") {
  const Tensor w = leaf(tensor(5.0));
  Values seen;
  w.on_grad([&](const Array& dw) { seen.push_back(dw.item()); });
  const Tensor last = w * 2, first = w * 4;
  // By then w has accumulated 4; the pass of another thread begins and ends.
  last.on_grad([&](const Array&) { std::thread([&] { (w * 3).backward(); }).join(); });
  (first + last).backward();
  CHECK(seen == Values{3, 6});
  CHECK(w.grad().item() == 9);
}

TEST_CASE("threads that pass back through one large leaf add whole gradients") {
  const Tensor w = leaf(ones({300, 1000}));
  at_once(3, [&](int id) {
    for (int round = 0; round < 20; ++round) (w * (id + 1.0)).sum().backward();
  });
  CHECK((w.grad() == 20 * (1 + 2 + 3)).all());
}

TEST_CASE("threads that retain the graph share inner nodes, and one that frees it has it alone") {
  constexpr int kThreads = 3, kRounds = 200;
  const Tensor x = leaf(tensor({1.0, 2.0}));
  Tensor trunk = x;
  for (int i = 0; i < 30; ++i) trunk = (trunk + trunk) * 0.5;  // x, by 2^30 ways
  trunk.retain_grad();
  at_once(kThreads, [&](int id) {
    for (int round = 0; round < kRounds; ++round) (trunk * (id + 1.0)).sum().backward(/*retain_graph=*/true);
  });
  CHECK(x.grad().to_vector<double>() == Values(2, kRounds * 6.0));
  CHECK(trunk.grad().to_vector<double>() == Values(2, kRounds * 6.0));

  // Each of these may fail, but never partially.
  x.zero_grad();
  std::atomic<int> passed{0};
  const Tensor loss = trunk.sum();
  at_once(kThreads, [&](int) {
    try {
      loss.backward();
      ++passed;
    } catch (const Error&) {
    }
  });
  CHECK(passed == 1);
  CHECK(x.grad().to_vector<double>() == Values{1, 1});
}

TEST_CASE("threads share a model whose parts run again in backward") {
  const Tensor w = leaf(tensor({1.0, 2.0}));
  const auto part = [w](const Tensor& x) { return (x * w).relu() + w; };
  at_once(3, [&](int id) {
    const Tensor x = full({2}, id + 1.0);
    for (int round = 0; round < 50; ++round) checkpoint(part, checkpoint(part, x)).sum().backward();
  });
  // y = (x w + w) w + w, dy/dw = 2 w (x + 1) + 1
  const auto expected = [](double v) { return 50 * (2 * v * (2 + 3 + 4) + 3); };
  CHECK(w.grad().to_vector<double>() == Values{expected(1), expected(2)});
}

TEST_CASE("a hook may add hooks, also to its own tensor: they see the next pass") {
  const Tensor x = leaf(tensor(2.0));
  const Tensor y = x * 3;
  std::string seen;
  std::vector<std::string> others;
  for (int i = 0; i < 2; ++i)
    y.on_grad([&, i](const Array&) {
      seen += static_cast<char>('a' + i);
      for (int k = 0; k < 100; ++k) y.on_grad([&](const Array&) { seen += '.'; });
      // Who gave memory back that is still needed finds it written.
      for (std::size_t bytes = 15; bytes < 4096; ++bytes) others.emplace_back(bytes, '\xff');
      seen += static_cast<char>('A' + i);  // what it captured is still there
    });
  y.backward(/*retain_graph=*/true);
  CHECK(seen == "aAbB");
  seen.clear();
  y.backward(/*retain_graph=*/true);
  CHECK(seen == "aAbB" + std::string(200, '.'));
  // To a tensor that this pass has yet to visit: in this pass.
  const Tensor inner = x * 1, outer = inner * 1;
  seen.clear();
  outer.on_grad([&](const Array&) { inner.on_grad([&](const Array&) { seen += 'i'; }); });
  outer.backward();
  CHECK(seen == "i");
}

TEST_CASE("a hook that writes into the gradient is an error: other tensors share it") {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor a = x * 1, b = a * 2;
  b.on_grad([](const Array& db) { db.fill_(0); });
  check_error([&] { (a + b).sum().backward(); },
              "on_grad: a hook of mul [2] wrote into the gradient, which other tensors may share: return "
              "another one, or change grad() after backward");
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("threads add hooks while others call them") {
  const Tensor x = leaf(tensor(1.0));
  std::atomic<int> calls{0};
  at_once(3, [&](int id) {
    for (int round = 0; round < 50; ++round)
      if (id == 0)
        x.on_grad([&](const Array&) { ++calls; });
      else
        (x * 2).backward();
  });
  calls = 0;
  (x * 2).backward();
  CHECK(calls == 50);
}

TEST_CASE("a pass inside another: through the same leaf, and through the same nodes") {
  const Tensor x = leaf(tensor(2.0));
  const Tensor shared = x * 3, other = shared * shared;
  const Tensor y = shared * 5 + shared * 7;
  // The inner pass visits `shared` again and numbers the nodes differently.
  (void)y.on_grad([&](const Array&) { other.backward(/*retain_graph=*/true); });
  y.backward(/*retain_graph=*/true);
  CHECK(x.grad().item() == 3 * 12 + 3 * 2 * 6);

  const std::string being_passed =
      "backward: mul [] is being passed by another backward, of another thread or around this one: call "
      "backward(/*retain_graph=*/true) in both, or run the forward pass once for each";
  x.zero_grad();
  const Tensor part = x * 3, rest = part * 4;
  rest.on_grad(
      [&](const Array&) { check_error([&] { (part * 2).backward(/*retain_graph=*/true); }, being_passed); });
  rest.backward();
  CHECK(x.grad().item() == 12);
  x.zero_grad();
  const Tensor kept = x * 3, top = kept * 4;
  top.on_grad([&](const Array&) { check_error([&] { (kept * 2).backward(); }, being_passed); });
  top.backward(/*retain_graph=*/true);
  CHECK(x.grad().item() == 12);
  top.on_grad([](const Array&) { throw Error("hook"); });
  CHECK_THROWS_WITH(top.backward(/*retain_graph=*/true), "hook");
  kept.backward();  // no other pass is active
  CHECK(x.grad().item() == 15);
}

TEST_CASE("a backward that failed names no op in later messages") {
  const Tensor x = leaf(tensor({-1.0, 4.0}));
  const Tensor kept = x * x;
  {
    const NoGrad guard;
    x.fill_(3);
  }
  CHECK_THROWS_WITH_AS(kept.sum().backward(), doctest::Contains("mul backward: the f32 [2] it saved"), Error);
  const Saved saved(x.array());
  x.array().fill_(1);
  CHECK_THROWS_WITH_AS(saved.get(), doctest::Contains("saved backward: the f32 [2] it saved"), Error);
}
