// parallel_for while threads sleep: which are woken; the results are the same.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/threads/parallel.h"
#include "threads_guard.h"

using namespace gradus;
using test::ThreadsGuard;
using I = std::int64_t;

namespace {

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
void let_workers_sleep() { sleep_us(2000); }  // they wait for work for 50 us

void work_us(int us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < end) {
  }
}

bool covers(I n, I grain, Wake wake) {
  std::vector<int> visits(static_cast<std::size_t>(n));
  const auto visit = [&](I begin, I end) {
    for (I i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  };
  parallel_for(n, grain, visit, wake);
  return visits == std::vector<int>(static_cast<std::size_t>(n), 1);
}

/// Records whether a thread other than the one that made it takes part.
class Helpers {
 public:
  void note() {
    if (std::this_thread::get_id() != self_) seen_ = true;
  }
  bool seen() const { return seen_; }

 private:
  const std::thread::id self_ = std::this_thread::get_id();
  std::atomic<bool> seen_ = false;
};

constexpr Wake kBoth[] = {Wake::if_long, Wake::at_once};

}  // namespace

TEST_CASE("parallel_for: every index once, whether threads sleep or not") {
  for (const int threads : {1, 2, 5, 3}) {
    const ThreadsGuard guard(threads);
    CAPTURE(threads);
    for (const Wake wake : kBoth)
      for (const I n : {2, 3, 7, 64, 1000})
        for (const I grain : {1, 3, 50}) {
          CAPTURE(n);
          CAPTURE(grain);
          let_workers_sleep();
          CHECK(covers(n, grain, wake));
          CHECK(covers(n, grain, wake));
        }
  }
}

TEST_CASE("Wake::if_long: a short loop wakes no thread") {
  const ThreadsGuard guard(3);
  int helped = 0;
  for (int round = 0; round < 40; ++round) {
    let_workers_sleep();
    Helpers helpers;
    parallel_for(8, 1, [&](I, I) { helpers.note(); });
    helped += helpers.seen();
  }
  CHECK(helped < 20);  // a chunk may look long because this thread lost its core in the middle of it
}

TEST_CASE("Wake::if_long: a long loop wakes threads") {
  for (const int threads : {2, 4}) {
    const ThreadsGuard guard(threads);
    let_workers_sleep();
    Helpers helpers;
    parallel_for(3, 1, [&](I begin, I) {
      helpers.note();
      sleep_us(500);
      for (int i = 0; begin == 1 && !helpers.seen() && i < 100'000; ++i) sleep_us(100);
    });
    CHECK(helpers.seen());
  }
}

TEST_CASE("Wake::if_long: short loops that follow each other closely count together") {
  const ThreadsGuard guard(2);
  let_workers_sleep();
  Helpers helpers;
  for (int loop = 0; loop < 100'000 && !helpers.seen(); ++loop)
    parallel_for(2, 1, [&](I, I) {
      helpers.note();
      work_us(10);
    });
  CHECK(helpers.seen());
}

TEST_CASE("Wake::at_once: threads take part in the first chunk") {
  const ThreadsGuard guard(3);
  let_workers_sleep();
  std::atomic<int> inside = 0;
  const auto meet = [&](I, I) {
    ++inside;
    while (inside < 3) sleep_us(100);
  };
  parallel_for(3, 1, meet, Wake::at_once);
  CHECK(inside == 3);
}

TEST_CASE("parallel_for: exceptions of early chunks while threads sleep") {
  for (const int threads : {1, 2, 4}) {
    const ThreadsGuard guard(threads);
    CAPTURE(threads);
    for (const Wake wake : kBoth)
      for (const I bad : {0, 1, 2, 9})
        for (const bool slow : {false, true}) {
          let_workers_sleep();
          std::mutex mutex;
          std::set<I> seen;
          const auto chunk = [&](I begin, I) {
            {
              const std::lock_guard lock(mutex);
              seen.insert(begin);
            }
            if (slow) work_us(60);
            if (begin >= bad) throw Error("chunk " + std::to_string(begin));
          };
          const std::string message = "chunk " + std::to_string(bad);
          CHECK_THROWS_WITH_AS(parallel_for(100, 1, chunk, wake), message.c_str(), Error);
          for (I i = 0; i <= bad; ++i) CHECK(seen.count(i) == 1);
          CHECK(covers(100, 1, wake));
        }
  }
}

TEST_CASE("parallel_for: nested calls stay on their thread while others sleep") {
  const ThreadsGuard guard(3);
  for (const Wake wake : kBoth) {
    let_workers_sleep();
    std::atomic<int> strayed = 0, inner = 0;
    const auto outer = [&](I, I) {
      const auto self = std::this_thread::get_id();
      const auto chunk = [&](I, I) {
        ++inner;
        strayed += std::this_thread::get_id() != self;
        work_us(20);
      };
      parallel_for(5, 1, chunk, wake);
    };
    parallel_for(6, 1, outer, wake);
    CHECK(inner == 30);
    CHECK(strayed == 0);
  }
}

TEST_CASE("parallel_for: several callers, pauses, and a changing number of threads") {
  const ThreadsGuard guard(3);
  std::atomic<int> wrong = 0, running = 3;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        if (round % 3 == caller) sleep_us(150);
        wrong += !covers(100 + round % 7, 3, kBoth[round % 2]);
        if (round % 10 == 0) try {
            parallel_for(20, 1, [](I, I) { throw Error("as wanted"); });
            ++wrong;
          } catch (const Error&) {
          }
      }
      --running;
    });
  for (int round = 0; running > 0; ++round) {
    set_num_threads(1 + round % 6);
    sleep_us(300);
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}
