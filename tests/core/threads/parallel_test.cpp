#include "gradus/core/threads/parallel.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gradus/core/error.h"
#include "in_child.h"
#include "support.h"
#include "threads_guard.h"

using namespace gradus;
using test::in_child;
using test::ThreadsGuard;
using I = std::int64_t;

namespace {

/// True when parallel_for visits 0 .. n-1 once each, in pieces of `grain`.
bool covers(I n, I grain) {
  std::vector<int> visits(static_cast<std::size_t>(n));
  std::atomic<bool> pieces_fit{true};
  parallel_for(n, grain, [&](I begin, I end) {
    if (begin % grain != 0 || (end != n && end - begin != grain)) pieces_fit = false;
    for (I i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  return pieces_fit && visits == std::vector<int>(static_cast<std::size_t>(n), 1);
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

// Its destructor runs after the pool has stopped: work is then done on this thread.
struct AfterMain {
  ~AfterMain() {
    if (!covers(1000, 10)) std::abort();
  }
} after_main;

}  // namespace

TEST_CASE("parallel_for: every index once, for any number of threads") {
  for (const int threads : {1, 2, 3, 8, 2, 1, 5}) {
    const ThreadsGuard guard(threads);
    CAPTURE(threads);
    CHECK(num_threads() == threads);
    for (const I n : {1, 2, 7, 64, 1000})
      for (const I grain : {1, 2, 3, 64, 2000}) {
        CAPTURE(n);
        CAPTURE(grain);
        CHECK(covers(n, grain));
      }
  }
}

TEST_CASE("parallel_for: nothing to do, grain below 1") {
  int calls = 0;
  parallel_for(0, 10, [&](I, I) { ++calls; });
  parallel_for(-5, 10, [&](I, I) { ++calls; });
  const auto count = [&](I) { ++calls; };
  detail::run_chunks(0, detail::ChunkFunction(count), Wake::if_long);
  CHECK(calls == 0);
  std::atomic<I> sum = 0;
  parallel_for(10, 0, [&](I begin, I end) { sum += end - begin; });
  CHECK(sum == 10);
}

TEST_CASE("parallel_for: several threads take part") {
  const ThreadsGuard guard(3);
  std::atomic<int> inside = 0;
  // Each chunk waits for the two others, so three threads must hold one each.
  const auto meet = [&](I, I) {
    ++inside;
    while (inside < 3) wait_a_little();
  };
  parallel_for(3, 1, meet, Wake::at_once);
  CHECK(inside == 3);
}

TEST_CASE("parallel_for: no more threads take part than set, also after there were more") {
  for (const int threads : {4, 3, 2, 3, 1, 2}) {
    const ThreadsGuard guard(threads);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto note = [&](I, I) {
      wait_a_little();
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    };
    parallel_for(200, 1, note, Wake::at_once);
    CAPTURE(threads);
    CHECK(static_cast<int>(seen.size()) <= threads);
  }
}

TEST_CASE("parallel_for: sums over chunks are bit-identical for any number of threads") {
  std::vector<float> values(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  std::vector<float> totals;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const ThreadsGuard guard(threads);
    std::vector<float> partial(values.size() / 1000 + 1);
    parallel_for(static_cast<I>(values.size()), 1000, [&](I begin, I end) {
      for (I i = begin; i < end; ++i)
        partial[static_cast<std::size_t>(begin / 1000)] += values[static_cast<std::size_t>(i)];
    });
    float total = 0;
    for (const float part : partial) total += part;
    totals.push_back(total);
  }
  CHECK(totals == std::vector<float>(5, totals[0]));
}

TEST_CASE("parallel_for: nested calls stay on their thread") {
  const ThreadsGuard guard(4);
  std::atomic<int> strayed = 0, inner = 0;
  parallel_for(16, 1, [&](I, I) {
    const auto outer = std::this_thread::get_id();
    parallel_for(10, 1, [&](I, I) {
      ++inner;
      if (std::this_thread::get_id() != outer) ++strayed;
    });
  });
  CHECK(inner == 160);
  CHECK(strayed == 0);
  CHECK(covers(100, 1));  // and afterwards this thread may use the pool again
}

TEST_CASE("SingleThread: everything runs on the calling thread") {
  const ThreadsGuard guard(4);
  const auto strays = [] {
    const auto self = std::this_thread::get_id();
    std::atomic<int> count = 0;
    parallel_for(64, 1, [&](I, I) { count += std::this_thread::get_id() != self; });
    return count.load();
  };
  {
    const SingleThread outer;
    { const SingleThread inner; }
    CHECK(strays() == 0);
    int others = -1;
    std::thread([&] { others = covers(100, 1); }).join();  // other threads are not affected
    CHECK(others == 1);
  }
  std::atomic<int> inside = 0;
  const auto meet = [&](I, I) {
    ++inside;
    while (inside < 2) wait_a_little();
  };
  parallel_for(2, 1, meet, Wake::at_once);
  CHECK(inside == 2);  // the pool is back
}

TEST_CASE("parallel_for: the exception of the first failing chunk is rethrown, the rest is skipped") {
  for (const int threads : {1, 2, 4}) {
    const ThreadsGuard guard(threads);
    CAPTURE(threads);
    for (int round = 0; round < 50; ++round) {
      std::set<I> seen;
      std::mutex mutex;
      std::string message;
      try {
        parallel_for(100, 1, [&](I begin, I) {
          {
            const std::lock_guard lock(mutex);
            seen.insert(begin);
          }
          if (begin >= 40) throw std::runtime_error("chunk " + std::to_string(begin));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "chunk 40");
      for (I i = 0; i <= 40; ++i) CHECK(seen.count(i) == 1);
    }
    std::atomic<int> ran = 0;
    CHECK_THROWS_AS(parallel_for(100'000, 1,
                                 [&](I begin, I) {
                                   if (begin == 0) throw Error("first");
                                   ++ran;
                                   wait_a_little();
                                 }),
                    Error);
    CHECK(ran < 100'000);
    CHECK(covers(1000, 1));
  }
}

TEST_CASE("parallel_for: callers on several threads while the number of threads changes") {
  const ThreadsGuard guard(3);
  std::atomic<int> wrong = 0, running = 3;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) wrong += !covers(200 + round % 7, 3);
      --running;
    });
  for (int round = 0; running > 0; ++round) {
    set_num_threads(1 + round % 6);
    wait_a_little();
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for: idle workers sleep") {
  const ThreadsGuard guard(4);
  CHECK(covers(1000, 1));
  // The state follows the name in brackets; 'R' means running or spinning.
  const auto running = [] {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string line;
      std::getline(std::ifstream(task.path() / "stat"), line);
      const std::size_t name_end = line.rfind(") ");
      count += name_end != std::string::npos && line[name_end + 2] == 'R';
    }
    return count;
  };
  int tries = 0;
  while (running() > 1 && tries < 10'000) wait_a_little(), ++tries;
  CHECK(tries < 10'000);
}

TEST_CASE("parallel_for: idle workers use no processor time") {
  const ThreadsGuard guard(4);
  CHECK(covers(1000, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // they spin for 50 us, then sleep
  const auto processor_ms = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& t) {
      return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
  };
  const double before = processor_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(processor_ms() - before < 5);
}

TEST_CASE("set_num_threads: bad numbers") {
  const ThreadsGuard guard(2);
  CHECK_THROWS_WITH_AS(set_num_threads(0), "set_num_threads: expects 1 to 1024 threads, got 0", Error);
  CHECK_THROWS_WITH_AS(set_num_threads(-3), "set_num_threads: expects 1 to 1024 threads, got -3", Error);
  CHECK_THROWS_WITH_AS(set_num_threads(1025), "set_num_threads: expects 1 to 1024 threads, got 1025", Error);
  // 1 and 1024 after narrowing to int.
  CHECK_THROWS_WITH_AS(set_num_threads((std::int64_t{1} << 32) + 1),
                       "set_num_threads: expects 1 to 1024 threads, got 4294967297", Error);
  CHECK_THROWS_AS(set_num_threads((std::int64_t{1} << 40) + 1024), Error);
  CHECK(num_threads() == 2);
}

TEST_CASE("child: print the number of threads" * doctest::skip()) {
  try {
    std::printf("<<%d threads>>\n", num_threads());
  } catch (const Error& error) {
    std::printf("<<%s>>\n", error.what());
  }
}

TEST_CASE("GRADUS_NUM_THREADS sets the number at start") {
  const auto threads_for = [](const std::string& environment) {
    const std::string output = test::output_of_child(environment, "child: print the number of threads");
    const std::size_t begin = output.find("<<") + 2;
    return output.substr(begin, output.find(">>", begin) - begin);
  };
  CHECK(threads_for("GRADUS_NUM_THREADS=3") == "3 threads");
  CHECK(threads_for("GRADUS_NUM_THREADS=1024") == "1024 threads");
  CHECK(threads_for("GRADUS_NUM_THREADS=007") == "7 threads");
  for (const std::string bad :
       {"0", "-1", "1025", "two", "2x", " 2", "2 ", "+2", "4294967297", "99999999999999999999"})
    CHECK(threads_for("GRADUS_NUM_THREADS='" + bad + "'") ==
          "GRADUS_NUM_THREADS: expects a number from 1 to 1024, got \"" + bad + "\"");
  // Empty or without it: as many as there are cores this process may use.
  cpu_set_t cores;
  REQUIRE(sched_getaffinity(0, sizeof cores, &cores) == 0);
  CHECK(threads_for("GRADUS_NUM_THREADS=") == std::to_string(CPU_COUNT(&cores)) + " threads");
  CHECK(threads_for("env -u GRADUS_NUM_THREADS") == std::to_string(CPU_COUNT(&cores)) + " threads");
  int core = 0;
  while (!CPU_ISSET(core, &cores)) ++core;
  CHECK(threads_for("env -u GRADUS_NUM_THREADS taskset -c " + std::to_string(core)) == "1 threads");
}

#ifndef __SANITIZE_THREAD__  // which cannot start threads in a forked child
TEST_CASE("parallel_for: a forked child starts its own workers") {
  const ThreadsGuard guard(3);
  const auto all_three_meet = [] {
    std::atomic<int> inside = 0;
    const auto meet = [&](I, I) {
      ++inside;
      while (inside < 3) wait_a_little();
    };
    parallel_for(3, 1, meet, Wake::at_once);
    return covers(1000, 1);
  };
  CHECK(all_three_meet());  // a worker that is still starting may hold a sanitizer's lock
  CHECK(in_child(all_three_meet) == 0);
  CHECK(covers(1000, 1));
}
#endif
