// The tape's lifetime: depth, leaks, threads; and the tools that inspect it.

#include "gradus/core/tape/autograd.h"

#include <doctest/doctest.h>
#include <pthread.h>

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check_op.h"
#include "core/tape/custom.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/tape/detail/after_pass.h"
#include "gradus/core/tape/detail/next_reads.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/tape/scope.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::custom;
using gradus::test::gradient;
using gradus::test::leaf;
using gradus::test::Values;

namespace {

/// y = x, with a backward that throws.
Tensor failing(const Tensor& x) {
  return custom(x, [](const Array&, Needs) -> Grads { throw std::runtime_error("broken"); });
}

std::vector<const Node*> looked_at;
void look(std::span<Node* const> nodes) { looked_at.assign(nodes.begin(), nodes.end()); }

/// Runs f on a thread with a stack of `bytes`.
template <class F>
void with_stack(std::size_t bytes, F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  const auto run = [](void* f_) -> void* {
    (*static_cast<F*>(f_))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("a tape of 150,000 nodes is built, run and destroyed on a small stack") {
  const std::int64_t nodes = live_nodes();
  double after_backward = 0;
  bool freed_unused = false;
  with_stack(256 * 1024, [&] {
    {
      const Tensor x = leaf(1);
      Tensor y = x;
      for (int i = 0; i < 150000; ++i) y = y + 1;
      y.backward();
      after_backward = gradient(x);
      Tensor unused = x;
      for (int i = 0; i < 150000; ++i) unused = unused * 1;
    }
    freed_unused = live_nodes() == nodes;
    const Tensor x = leaf(1);
    Tensor kept = x;
    for (int i = 0; i < 150000; ++i) kept = kept + kept;  // each node twice an input
    kept.backward(/*retain_graph=*/true);
  });
  CHECK(after_backward == 1);
  CHECK(freed_unused);
  CHECK(live_nodes() == nodes);
}

TEST_CASE("training loops leak neither nodes nor bytes") {
  const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
  {
    const Tensor w = leaf(ones({8, 8})), b = leaf(zeros({8}));
    std::int64_t steady = 0;
    for (int step = 0; step < 20; ++step) {
      const Tensor x = full({4, 8}, 0.1 * step);
      const Tensor loss = (tanh(matmul(x, w) + b)).square().mean();
      if (step % 3 == 0) continue;  // evaluated only, its tape dropped
      w.zero_grad();
      b.zero_grad();
      loss.backward();
      {
        const NoGrad guard;
        w.copy_(w - w.grad() * 0.1);
      }
      if (step == 5) steady = memory_stats().live_bytes;
      if (step > 5 && step % 3 == 2) CHECK(memory_stats().live_bytes == steady);
    }
  }
  CHECK(live_nodes() == nodes);
  CHECK(memory_stats().live_bytes == bytes);
}

TEST_CASE("backward frees saved arrays, although the loss still exists") {
  const Tensor x = leaf(ones({1000}));
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = y * y;
  const Tensor loss = y.sum();
  y = Tensor();
  const std::int64_t before = memory_stats().live_bytes;
  loss.backward();
  CHECK(memory_stats().live_bytes < before - 8 * 4000);
  CHECK(x.grad().array().at({999}) == 1024);
}

TEST_CASE("an exception inside backward leaks nothing") {
  const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
  {
    const Tensor x = leaf(ones({3}));
    const Tensor broken =
        custom(x * 2, [](const Array&, Needs) -> Grads { throw std::runtime_error("broken"); });
    const Tensor loss = (broken * 3 + x).sum();
    CHECK_THROWS_WITH(loss.backward(), "broken");
    CHECK_FALSE(x.grad().defined());
    // The leaf is as good as new.
    (x * 4).sum().backward();
    CHECK(x.grad().to_vector<double>() == Values{4, 4, 4});
    const Tensor hooked = x * 1;
    hooked.on_grad([](const Array&) { throw Error("hook"); });
    CHECK_THROWS_WITH(hooked.sum().backward(), "hook");
    CHECK(x.grad().to_vector<double>() == Values{4, 4, 4});
  }
  CHECK(live_nodes() == nodes);
  CHECK(memory_stats().live_bytes == bytes);
}

TEST_CASE("two threads run backward on separate tapes") {
  const auto train = [](double start, double* result) {
    const Tensor x = leaf(start);
    for (int i = 0; i < 300; ++i) {
      x.zero_grad();
      Tensor y = x;
      for (int k = 0; k < 20; ++k) y = y * 0.5 + x;
      y.backward();
    }
    *result = gradient(x);
  };
  double a = 0, b = 0, alone = 0;
  train(1, &alone);
  std::thread first([&] { train(1, &a); }), second([&] { train(2, &b); });
  first.join();
  second.join();
  CHECK(a == alone);
  CHECK(b == alone);
}

TEST_CASE("nodes may be freed on another thread than the one that made them") {
  const std::int64_t nodes = live_nodes();
  Tensor y = leaf(1);
  for (int i = 0; i < 1000; ++i) y = y * 2;
  std::thread([&] { y = Tensor(); }).join();
  CHECK(live_nodes() == nodes);
}

TEST_CASE("detect_anomaly names the op and the module where a NaN appears first") {
  const DetectAnomaly guard;
  const Tensor x = leaf(tensor({-1.0, 4.0}));
  check_error([&] { sqrt(x); }, "detect_anomaly: sqrt produced NaN in its output [2]");
  {
    const Scope scope(intern("layers.3.norm"));
    check_error([&] { log(x * 1); }, "detect_anomaly: log produced NaN in its output [2] (in layers.3.norm)");
  }
  // Forward is fine, backward is 0 * inf.
  const Tensor zero = leaf(tensor({0.0, 1.0}));
  Tensor y;
  {
    const Scope scope(intern("head"));
    y = sqrt(zero);
  }
  CHECK_THROWS_WITH_AS((y * 0).sum().backward(),
                       "detect_anomaly: sqrt backward produced NaN in the gradient of input 0 [2] (in head)",
                       Error);
}

TEST_CASE("without detect_anomaly NaN propagates") {
  const Tensor x = leaf(-1);
  const Tensor y = sqrt(x);
  y.backward();
  CHECK(std::isnan(gradient(x)));
}

TEST_CASE("explain prints the tape, newest first") {
  const Tensor w = leaf(ones({2, 2})), b = leaf(ones({2})), x = ones({3, 2});
  Tensor h;
  {
    const Scope scope(intern("fc1"));
    h = matmul(x, w) + b;
  }
  const Tensor loss = (h * h).sum();
  CHECK(explain(loss) ==
        "#6    sum     []      <- #5\n"
        "#5    mul     [3, 2]  <- #4, #4\n"
        "#4    add     [3, 2]  <- #3, #2  (fc1)\n"
        "#3    matmul  [3, 2]  <- constant, #1  (fc1)\n"
        "#2    leaf    [2]\n"
        "#1    leaf    [2, 2]\n");
  loss.backward();
  CHECK(explain(loss) == "#1    sum  []  <- (freed by backward)\n");
  CHECK(explain(x) == "no tape: f32 [3, 2] is a constant\n");
  CHECK(explain(w) == "#1    leaf  [2, 2]\n");
}

TEST_CASE("code above the tape is called after each pass") {
  const AfterPass before = set_after_pass(look);
  const Tensor x = leaf(ones({4})), other = leaf(ones({4})), y = x * 2, sum = (y + other).sum();
  sum.backward();
  REQUIRE(looked_at.size() == 5);
  CHECK(looked_at.front() == sum.node().get());  // the newest first
  CHECK(looked_at.back() == x.node().get());
  looked_at.clear();
  CHECK_THROWS(failing(x).sum().backward());
  CHECK(looked_at.empty());  // not at one that fails
  CHECK((set_after_pass(before) == look));
  x.sum().backward();
  CHECK(looked_at.empty());
}

TEST_CASE("a step of backward knows the data that the next one reads") {
  std::vector<ReadAhead> seen;
  const auto watch = [&](const Tensor& x) {
    return custom(x, [&seen](const Array& dy, Needs) -> Grads {
      seen.push_back(next_step_reads());
      return {dy};
    });
  };
  const Tensor x = leaf(randn({5, 7})), y = watch(x), z = watch(y), strided = watch(z.transpose(0, 1));
  strided.sum().backward();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].data == z.array().raw());  // the transpose's input
  CHECK(seen[0].bytes == 5 * 7 * 4);
  CHECK(seen[1].data == x.array().raw());  // z's step comes before y's, whose input is x
  CHECK(seen[2].bytes == 0);               // the leaf's reads nothing
  CHECK(next_step_reads().bytes == 0);
  CHECK(read_ahead(z.array().transpose(0, 1)).bytes == 0);
  CHECK(read_ahead(Array()).data == nullptr);
  CHECK(read_ahead(Array::empty({3 << 20}, f32)).bytes == 4 << 20);
}

TEST_CASE("a backward that throws leaves no reads to the next one") {
  const Tensor x = leaf(randn({5, 7})), y = leaf(randn({3}));
  CHECK_THROWS(failing(x * 2).sum().backward());
  CHECK(next_step_reads().data == nullptr);
  ReadAhead seen = {.data = "", .bytes = 1};
  y.on_grad([&seen](const Array&) { seen = next_step_reads(); });  // y is the last step
  y.sum().backward();
  CHECK(seen.data == nullptr);

  // A pass that continues after an inner pass failed has its own reads again.
  const Tensor z = custom(x * 2, [&](const Array& dy, Needs) -> Grads {
    const EnableGrad guard;
    CHECK_THROWS(failing(y * 2).sum().backward());
    seen = next_step_reads();
    return {dy};
  });
  z.sum().backward();
  CHECK(seen.data == x.array().raw());
}
