// fork() while other threads are inside the library: the child has only its own thread, and no lock may be
// held by a thread that it does not have.

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/memory/detail/node_pool.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/kernels/blas.h"
#include "gradus/ops/ops.h"
#include "in_child.h"
#include "threads_guard.h"

using namespace gradus;
using namespace gradus::test;

namespace {

constexpr int kForks = 20;  // most of them hung before locks were taken

// The thread sanitizer cannot start threads in a forked child.
#ifdef __SANITIZE_THREAD__
constexpr int kChildThreads = 1;
#else
constexpr int kChildThreads = 3;
#endif

// GCC 12's AddressSanitizer does not take its allocator's locks before fork(): a child of a program whose
// other threads only call malloc() hangs now and then. With it a child is forked while no other thread is
// inside a round of its work, without it at any moment.
#ifdef __SANITIZE_ADDRESS__
std::mutex door;  // who forks keeps it, so that no round begins
std::shared_mutex rounds;
struct Round {
  Round() {
    const std::lock_guard open(door);
    rounds.lock_shared();
  }
  ~Round() { rounds.unlock_shared(); }
};
struct BetweenRounds {
  const std::lock_guard<std::mutex> closed{door};
  const std::lock_guard<std::shared_mutex> finished{rounds};
};
#else
struct Round {
  ~Round() {}  // used by being there
};
using BetweenRounds = Round;
#endif

/// How many of n children, one after the other, succeed before one does not.
template <class F>
int good_children(int n, F what) {
  for (int good = 0; good < n; ++good) {
    const BetweenRounds none;
    if (in_child(what) != 0) return good;
  }
  return n;
}

/// Threads of the pool, three, have begun: a new one allocates too.
void start_workers() {
  std::atomic<int> inside = 0;
  const auto meet = [&](std::int64_t, std::int64_t) {
    for (++inside; inside < 3;) std::this_thread::yield();
  };
  parallel_for(3, 1, meet, Wake::at_once);
}

void train_a_little() {
  Tensor x = randn({64, 64});
  x.requires_grad_();
  gelu(matmul(x, x)).sum().backward();
}

/// A child's life: every size of memory, names, ops on its own threads, an error, a profile.
bool live() {
  set_num_threads(kChildThreads);
  {
    const Storage small = Storage::allocate(1000), shared = Storage::allocate(200'000),
                  large = Storage::allocate(4'000'000);
  }
  empty_cache();
  intern("child");
  const Profile profile;
  train_a_little();
  const Tensor y = randn({300, 300});
  try {
    matmul(y, zeros({2}));
    return false;
  } catch (const Error&) {
  }
  return matmul(y, y).sum().item() == matmul(y, y).sum().item() && profile.entries().size() > 3;
}

/// Threads that repeat `work` until the object is destroyed.
class Busy {
 public:
  explicit Busy(const std::function<void(int)>& work) {
    for (int thread = 0; thread < 3; ++thread)
      threads_.emplace_back([=, this] {
        begun_.count_down();
        for (int round = thread; !stop_; round += 3) {
          const Round inside;
          work(round);
        }
      });
    begun_.wait();
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch begun_{3};
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

void allocate(int round) {
  const Storage small = Storage::allocate(64 + static_cast<std::size_t>(round) % 5000),
                shared = Storage::allocate(150'000 + static_cast<std::size_t>(round) % 500'000);
  if (round % 50 == 0) empty_cache();
}

void make_names(int round) { intern("round " + std::to_string(round % 100'000)); }

void profile(int) {
  const Profile watched;
  train_a_little();
}

/// More than a thread keeps: batches go to the depot and come from it.
void take_nodes(int) {
  void* blocks[4 * node_pool::kBatch];
  for (void*& block : blocks) block = node_pool::take(200);
  for (void* const block : blocks) node_pool::give(block, 200);
}

void multiply_with_blas(int) {
  const std::vector<float> a(256, 1), b(256, 2);
  std::vector<float> c(256);
  for (int i = 0; i < 100; ++i)
    blas::gemm<float>(
        {.m = 16, .n = 16, .k = 16, .a = {a.data(), 16}, .b = {b.data(), 16}, .c = c.data(), .ldc = 16});
}

}  // namespace

TEST_CASE("fork: while threads allocate, name, compute and profile") {
  const ThreadsGuard guard(3);
  const auto all = [](int round) {
    allocate(round);
    make_names(round);
    if (round % 10 == 0) profile(round);
  };
  for (const std::function<void(int)>& work :
       {std::function<void(int)>(allocate), std::function<void(int)>(make_names),
        std::function<void(int)>(profile), std::function<void(int)>(all)}) {
    const Busy busy(work);
    CHECK(good_children(kForks, live) == kForks);
  }
}

TEST_CASE("fork: while threads add gradients to one leaf") {
  Tensor x = ones({1});
  x.requires_grad_();
  const Busy busy([x](int) { x.backward(ones({1})); });
  CHECK(good_children(10 * kForks, [&] {
          x.backward(ones({1}));
          return x.grad().defined();
        }) == 10 * kForks);
}

TEST_CASE("fork: while threads allocate nodes") {
  const Busy busy(take_nodes);
  CHECK(good_children(10 * kForks, [] {
          take_nodes(0);
          return true;
        }) == 10 * kForks);
}

TEST_CASE("fork: while threads are inside OpenBLAS, which has its own lock") {
  if (!blas::available()) return;
  const Busy busy(multiply_with_blas);
  CHECK(good_children(10 * kForks, [] {
          multiply_with_blas(0);
          return true;
        }) == 10 * kForks);
}

TEST_CASE("fork: during a parallel job, and while the number of threads changes") {
  const ThreadsGuard guard(3);
  const Busy busy([](int round) {
    set_num_threads(1 + round % 4);
    train_a_little();
  });
  CHECK(good_children(kForks, live) == kForks);
}

TEST_CASE("fork: while a Profile records; parent and child continue to record separately") {
  const ThreadsGuard guard(3);
  const Busy busy(profile);
  const Profile watched;
  const Tensor kept = randn({100, 100});
  train_a_little();
  const std::size_t entries = watched.entries().size();
  CHECK(good_children(kForks, [&] {
          { const Tensor given_back = kept + 1; }
          return live() && watched.entries().size() > entries;
        }) == kForks);
  CHECK(watched.entries().size() == entries);
}

TEST_CASE("fork: a child forked inside a job computes on one thread until it ends") {
  const ThreadsGuard guard(3);
  start_workers();
  std::atomic<int> good = 0;
  parallel_for(
      6, 1, [&](std::int64_t, std::int64_t) { good += in_child(live) == 0; }, Wake::at_once);
  CHECK(good == 6);
  CHECK(live());
}
