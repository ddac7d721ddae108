// The memory of nodes: bounded, for any threads that build and drop graphs, and returned on request.

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "failing_new.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/tape/autograd.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::FailingNew;
using gradus::test::leaf;
using gradus::test::taken;

namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

/// Passes graphs to other threads, a few at a time.
class Channel {
 public:
  void put(Tensor graph) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < 4; });
    waiting_.push_back(std::move(graph));
    changed_.notify_all();
  }
  Tensor take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    Tensor graph = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return graph;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Tensor> waiting_;
};

/// `nodes` nodes of three sizes.
Tensor graph(const Tensor& w, int nodes = 200) {
  Tensor y = w;
  for (int i = 0; i < nodes; ++i) y = i % 3 == 0 ? y + w : i % 3 == 1 ? y * w : y.sum();
  return y;
}

/// An undefined tensor ends it.
void drop_all(Channel& from) {
  while (from.take().defined()) {
  }
}

/// The growth of memory from operator new between the first tenth of the rounds and the end.
std::int64_t growth(int rounds, const std::function<void(int)>& round) {
  std::size_t before = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 10) before = taken();
    round(i);
  }
  return static_cast<std::int64_t>(taken()) - static_cast<std::int64_t>(before);
}

/// One thread builds graphs, `droppers` others drop them.
std::int64_t growth_with(int droppers, int rounds) {
  const Tensor w = leaf(tensor(1.0));
  Channel channel;
  std::vector<std::thread> threads;
  for (int i = 0; i < droppers; ++i) threads.emplace_back([&] { drop_all(channel); });
  const std::int64_t grown = growth(rounds, [&](int) { channel.put(graph(w)); });
  for (int i = 0; i < droppers; ++i) channel.put(Tensor());
  for (std::thread& thread : threads) thread.join();
  return grown;
}

thread_local Tensor held;

std::int64_t resident() {
  std::int64_t pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> pages >> pages;
  return pages * 4 * KiB;
}

}  // namespace

// Without a bound each of these takes more than 50 MiB.
TEST_CASE("node memory: bounded when one thread builds graphs and others drop them") {
  CHECK(growth_with(1, 2000) < 4 * MiB);
  CHECK(growth_with(3, 2000) < 4 * MiB);
}

TEST_CASE("node memory: bounded when threads that end build graphs and another drops them") {
  const Tensor w = leaf(tensor(1.0));
  CHECK(growth(400, [&](int) {
          Tensor y;
          std::thread([&] { y = graph(w, 1000); }).join();
        }) < 4 * MiB);
}

TEST_CASE("node memory: bounded when threads that end drop the graphs of another") {
  const Tensor w = leaf(tensor(1.0));
  CHECK(growth(400, [&](int) {
          Tensor y = graph(w, 1000);
          std::thread([&] { y = Tensor(); }).join();
        }) < 4 * MiB);
}

TEST_CASE("node memory: bounded when threads end holding the graphs of another") {
  const Tensor w = leaf(tensor(1.0));
  for (const bool uses_nodes : {false, true}) {
    CAPTURE(uses_nodes);
    const std::int64_t alive = live_nodes();
    CHECK(growth(400, [&](int) {
            Tensor y = graph(w, 1000);
            std::thread([&] {
              held = Tensor();
              if (uses_nodes) graph(w, 10);  // this thread's free nodes go before `held` does
              held = std::move(y);
            }).join();
          }) < 4 * MiB);
    CHECK(live_nodes() == alive);
  }
}

TEST_CASE("node memory: bounded when two threads build graphs for each other, of different lengths") {
  const Tensor w = leaf(tensor(1.0));
  Channel there, back;
  std::thread other([&] {
    while (there.take().defined()) back.put(graph(w, 20));
  });
  CHECK(growth(2000, [&](int) {
          there.put(graph(w, 400));
          back.take();
        }) < 4 * MiB);
  there.put(Tensor());
  other.join();
}

TEST_CASE("node memory: a thread that trains reuses its memory") {
  const Tensor w = leaf(tensor(1.0));
  const auto step = [&](int) { graph(w, 1000).backward(); };
  for (int i = 0; i < 3; ++i) step(i);
  const std::int64_t bytes = memory_stats().node_bytes;
  CHECK(growth(100, step) == 0);
  CHECK(memory_stats().node_bytes == bytes);
}

TEST_CASE("node memory: counted, and freed by empty_cache()") {
  empty_cache();
  const std::int64_t before = memory_stats().node_bytes;
  {
    const Tensor y = graph(leaf(tensor(1.0)), 1000);
    CHECK(memory_stats().node_bytes >= before + 1000 * static_cast<std::int64_t>(sizeof(Node)));
    empty_cache();
    CHECK(memory_stats().node_bytes >= before + 1000 * static_cast<std::int64_t>(sizeof(Node)));
  }
  CHECK(memory_stats().node_bytes >= before + 1000 * static_cast<std::int64_t>(sizeof(Node)));  // kept
  empty_cache();
  CHECK(memory_stats().node_bytes == before);
}

TEST_CASE("node memory: a thread that ends keeps none, and passes on unused memory") {
  empty_cache();
  const std::int64_t before = memory_stats().node_bytes;
  const Tensor w = leaf(tensor(1.0));
  std::thread([&] { graph(w, 50); }).join();  // less than a batch
  std::thread([&] { graph(w, 1000); }).join();
  const std::int64_t kept = memory_stats().node_bytes;
  CHECK(kept > before);
  const Tensor y = graph(w, 500);
  CHECK(memory_stats().node_bytes == kept);
}

TEST_CASE("node memory: operator new gets the memory of dropped nodes before it throws") {
  empty_cache();
  const std::int64_t before = memory_stats().node_bytes;
  graph(leaf(tensor(1.0)), 1000);
  CHECK(memory_stats().node_bytes > before);
  {
    const FailingNew armed(0, /*for_good=*/false);
    gradus::test::take_and_give_back();
    CHECK(armed.struck());
  }
  CHECK(memory_stats().node_bytes == before);
}

// GRADUS_SOAK_MINUTES=60 build/release/core_tests --no-skip -tc='node memory: for an hour*'
TEST_CASE("node memory: for an hour, a builder, droppers, and threads that end" * doctest::skip()) {
  const char* const wanted = std::getenv("GRADUS_SOAK_MINUTES");
  const int minutes = wanted ? std::atoi(wanted) : 60;
  const Tensor w = leaf(tensor(1.0));
  Channel channel;
  std::vector<std::thread> droppers;
  for (int i = 0; i < 3; ++i) droppers.emplace_back([&] { drop_all(channel); });
  std::int64_t first = 0, graphs = 0;
  for (int minute = 0; minute <= minutes; ++minute) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(minute == 0 ? 0 : 1);
    do {
      for (int i = 0; i < 100; ++i) channel.put(graph(w, 500));
      std::thread([&] { channel.put(graph(w, 500)); }).join();
      Tensor y = graph(w, 500);
      std::thread([&] { y = Tensor(); }).join();
      graphs += 102;
    } while (std::chrono::steady_clock::now() < end);
    const std::int64_t now = resident();
    if (minute <= 1) first = now;
    std::printf("minute %d: %lld graphs of 500 ops, nodes %lld KiB, resident %lld KiB\n", minute,
                static_cast<long long>(graphs), static_cast<long long>(memory_stats().node_bytes / KiB),
                static_cast<long long>(now / KiB));
    std::fflush(stdout);
    CHECK(now < first + 16 * MiB);
  }
  for (std::size_t i = 0; i < droppers.size(); ++i) channel.put(Tensor());
  for (std::thread& thread : droppers) thread.join();
}
