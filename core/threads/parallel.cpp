#include "gradus/core/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/platform.h"
#include "gradus/core/threads/detail/thread_pool.h"

namespace gradus {
namespace {

constexpr int kMaxThreads = 1024;

int initial_threads() {
  const char* text = std::getenv("GRADUS_NUM_THREADS");
  if (!text || !*text) return std::clamp(platform::system().cores(), 1, kMaxThreads);
  const char* const end = text + std::strlen(text);
  int threads = 0;
  const auto [stop, error] = std::from_chars(text, end, threads);  // digits only: no blanks, no sign
  check(error == std::errc() && stop == end && threads >= 1 && threads <= kMaxThreads,
        "GRADUS_NUM_THREADS: expects a number from 1 to {}, got \"{}\"", kMaxThreads, text);
  return threads;
}

std::atomic<int> thread_setting = 0;  // not asked for yet

// Never destroyed, so that destructors of static objects may still run ops.
std::atomic<ThreadPool*> the_pool = nullptr;

ThreadPool& pool() {
  if (ThreadPool* existing = the_pool.load(std::memory_order_acquire)) return *existing;
  auto fresh = std::make_unique<ThreadPool>();  // its threads start with the first job
  ThreadPool* first = nullptr;
  if (the_pool.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *first;
}

/// After main, static objects run ops on one thread.
const struct AtExit {
  ~AtExit() {
    set_num_threads(1);
    if (ThreadPool* last = the_pool.load()) last->stop();
  }
} at_exit;

}  // namespace

void forget_pool() { the_pool.store(nullptr); }

void set_num_threads(std::int64_t threads) {
  check(threads >= 1 && threads <= kMaxThreads, "set_num_threads: expects 1 to {} threads, got {}",
        kMaxThreads, threads);
  thread_setting.store(static_cast<int>(threads), std::memory_order_relaxed);
}

int num_threads() {
  const int threads = thread_setting.load(std::memory_order_relaxed);
  if (threads > 0) [[likely]]
    return threads;
  int none = 0;
  const int initial = initial_threads();
  return thread_setting.compare_exchange_strong(none, initial) ? initial : none;
}

SingleThread::SingleThread() : before_(std::exchange(runs_alone, true)) {}
SingleThread::~SingleThread() { runs_alone = before_; }

void detail::run_chunks(std::int64_t chunks, ChunkFunction f, Wake wake) {
  if (chunks > 1 && !runs_alone)
    if (const int threads = num_threads(); threads > 1 && pool().run(chunks, f, threads, wake)) return;
  for (std::int64_t i = 0; i < chunks; ++i) f(i);
}

}  // namespace gradus
