#include "gradus/core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "gradus/core/format.h"
#include "gradus/core/thread_pool.h"

namespace gradus {
namespace {

constexpr int kMaxThreads = 1024;

int initial_threads() {
  const char* text = std::getenv("GRADUS_NUM_THREADS");
  if (!text || !*text) return std::clamp(available_cores(), 1, kMaxThreads);
  char* end = nullptr;
  const long threads = std::strtol(text, &end, 10);
  check(*end == '\0' && threads >= 1 && threads <= kMaxThreads,
        "GRADUS_NUM_THREADS: expects a number from 1 to {}, got \"{}\"", kMaxThreads, text);
  return static_cast<int>(threads);
}

std::atomic<int>& thread_setting() {
  static std::atomic<int> threads{initial_threads()};
  return threads;
}

// Never destroyed, so that destructors of static objects may still run ops (on one thread, once it is
// stopped).
std::atomic<ThreadPool*> the_pool{nullptr};

ThreadPool& pool() {
  if (ThreadPool* existing = the_pool.load(std::memory_order_acquire)) return *existing;
  static std::mutex starting;
  const std::lock_guard lock(starting);
  if (!the_pool.load(std::memory_order_relaxed)) the_pool.store(new ThreadPool, std::memory_order_release);
  static const struct AtExit {
    // A forked child has no workers: it starts a pool of its own.
    AtExit() {
      pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); });
    }
    ~AtExit() {
      if (ThreadPool* last = the_pool.load()) last->stop();
    }
  } at_exit;
  return *the_pool.load(std::memory_order_relaxed);
}

}  // namespace

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= kMaxThreads, "set_num_threads: expects 1 to {} threads, got {}",
        kMaxThreads, threads);
  thread_setting().store(threads, std::memory_order_relaxed);
}

int num_threads() { return thread_setting().load(std::memory_order_relaxed); }

SingleThread::SingleThread() : before_(std::exchange(runs_alone, true)) {}
SingleThread::~SingleThread() { runs_alone = before_; }

void detail::run_chunks(std::int64_t chunks, ChunkFunction f, Wake wake) {
  if (chunks > 1 && !runs_alone)
    if (const int threads = num_threads(); threads > 1 && pool().run(chunks, f, threads, wake)) return;
  for (std::int64_t i = 0; i < chunks; ++i) f(i);
}

}  // namespace gradus
