// The thread pool. One job runs at a time; its chunks are handed out by a counter.
//
// `state_` holds everything workers and caller must agree on: how many workers are inside the job, kOpen
// while it takes more, kCallerSleeps when the last one to leave must wake the caller. A worker enters by
// raising the count while kOpen is set, so the caller waits for those inside and never for one that is still
// waking up.

#include "gradus/core/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/core/format.h"
#include "gradus/core/spin.h"

namespace gradus {
namespace {

constexpr int kMaxThreads = 1024;
constexpr auto kSpin = std::chrono::microseconds(50);

// True on workers, inside a region and under SingleThread: work runs on this thread alone.
constinit thread_local bool serial = false;

int available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // Fails only on machines with more than CPU_SETSIZE (1024) cores.
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return kMaxThreads;
  return std::clamp(CPU_COUNT(&cores), 1, kMaxThreads);
}

int initial_threads() {
  const char* text = std::getenv("GRADUS_NUM_THREADS");
  if (!text || !*text) return available_cores();
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

/// Pauses until `ready` or until kSpin has passed; returns whether it is ready. With more threads than cores
/// it does not wait at all: the core is needed by those who have work.
template <class Ready>
bool spin_until(int threads, Ready ready) {
  static const int cores = available_cores();
  const auto end =
      std::chrono::steady_clock::now() + (threads > cores ? std::chrono::microseconds(0) : kSpin);
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      cpu_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

class Pool {
 public:
  /// Runs the job on `threads` threads; returns false, having done nothing, when another job is running.
  bool run(std::int64_t chunks, detail::ChunkFunction work, int threads);
  void stop();

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;
  static constexpr std::uint32_t kCallerSleeps = 1u << 30;

  void resize(int workers);
  void open();
  void draw_chunks();
  void wait_for_workers();
  void run_worker(int index);
  bool enter();
  void leave();
  void fail_chunk(std::int64_t chunk);

  std::mutex running_;  // held by the thread whose job runs
  std::vector<std::thread> threads_;
  bool stopped_ = false;

  // The job: written while nobody is inside, read by those inside.
  std::int64_t chunks_ = 0;
  const detail::ChunkFunction* work_ = nullptr;

  alignas(64) std::atomic<std::uint32_t> state_{0};
  alignas(64) std::atomic<std::int64_t> next_{0};

  alignas(64) std::mutex mutex_;  // guards sleep, and the error
  std::condition_variable wake_, done_;
  std::atomic<int> sleepers_{0};
  std::atomic<int> wanted_{0};  // workers with a higher index end
  std::exception_ptr error_;
  std::int64_t error_chunk_ = 0;
};

bool Pool::run(std::int64_t chunks, detail::ChunkFunction work, int threads) {
  const std::unique_lock running(running_, std::try_to_lock);
  if (!running || stopped_) return false;
  if (threads - 1 != static_cast<int>(threads_.size())) resize(threads - 1);

  chunks_ = chunks;
  work_ = &work;
  next_.store(0, std::memory_order_relaxed);
  open();
  serial = true;
  draw_chunks();
  serial = false;
  wait_for_workers();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return true;
}

void Pool::resize(int workers) {
  wanted_.store(workers);
  if (workers < static_cast<int>(threads_.size())) {
    {
      const std::lock_guard lock(mutex_);
    }  // whoever checks `wanted_` before sleeping sees it or is asleep by now
    wake_.notify_all();
    for (std::size_t i = static_cast<std::size_t>(workers); i < threads_.size(); ++i) threads_[i].join();
    threads_.resize(static_cast<std::size_t>(workers));
  }
  threads_.reserve(static_cast<std::size_t>(workers));
  try {
    for (int i = static_cast<int>(threads_.size()); i < workers; ++i)
      threads_.emplace_back([this, i] { run_worker(i); });
  } catch (const std::system_error&) {
    // The system has no more threads to give: the ones there are do the work.
  }
}

void Pool::open() {
  state_.store(kOpen);  // before reading sleepers_: a worker raises that before it reads state_
  const int sleepers = sleepers_.load();
  if (sleepers == 0) return;
  { const std::lock_guard lock(mutex_); }
  if (chunks_ - 1 >= sleepers) return wake_.notify_all();
  for (std::int64_t i = 1; i < chunks_; ++i) wake_.notify_one();
}

void Pool::draw_chunks() {
  for (;;) {
    const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks_) break;
    try {
      (*work_)(chunk);
    } catch (...) {
      fail_chunk(chunk);
    }
  }
  state_.fetch_and(~kOpen, std::memory_order_relaxed);
}

// Chunks are drawn in order, so all before a failing one have started: the lowest failing chunk is the same
// for any number of threads, and its exception is the one to report.
void Pool::fail_chunk(std::int64_t chunk) {
  next_.store(chunks_, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (error_ && error_chunk_ < chunk) return;
  error_ = std::current_exception();
  error_chunk_ = chunk;
}

void Pool::wait_for_workers() {
  if (spin_until(wanted_.load() + 1, [this] { return state_.load(std::memory_order_acquire) == 0; })) return;
  std::unique_lock lock(mutex_);
  state_.fetch_or(kCallerSleeps, std::memory_order_relaxed);
  done_.wait(lock, [this] { return state_.load(std::memory_order_acquire) == kCallerSleeps; });
  state_.store(0, std::memory_order_relaxed);
}

bool Pool::enter() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  while (state & kOpen)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return true;
  return false;
}

void Pool::leave() {
  if (state_.fetch_sub(1, std::memory_order_acq_rel) != (kCallerSleeps | 1)) return;
  const std::lock_guard lock(mutex_);
  done_.notify_one();
}

void Pool::run_worker(int index) {
  serial = true;
  const auto called = [this, index] { return (state_.load() & kOpen) || index >= wanted_.load(); };
  for (;;) {
    if (!spin_until(wanted_.load() + 1, called)) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, called);
      sleepers_.fetch_sub(1);
    }
    if (index >= wanted_.load()) return;
    if (!enter()) continue;
    draw_chunks();
    leave();
  }
}

void Pool::stop() {
  const std::unique_lock running(running_, std::try_to_lock);
  if (!running) return;  // exit() from inside a job: the process takes the workers with it
  resize(0);
  stopped_ = true;
}

// Never destroyed, so that destructors of static objects may still run ops (on one thread, once it is
// stopped).
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  if (Pool* existing = the_pool.load(std::memory_order_acquire)) return *existing;
  static std::mutex starting;
  const std::lock_guard lock(starting);
  if (!the_pool.load(std::memory_order_relaxed)) the_pool.store(new Pool, std::memory_order_release);
  static const struct AtExit {
    // A forked child has no workers: it starts a pool of its own.
    AtExit() {
      pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); });
    }
    ~AtExit() {
      if (Pool* last = the_pool.load()) last->stop();
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

SingleThread::SingleThread() : before_(std::exchange(serial, true)) {}
SingleThread::~SingleThread() { serial = before_; }

void detail::run_chunks(std::int64_t chunks, ChunkFunction f) {
  if (chunks > 1 && !serial)
    if (const int threads = num_threads(); threads > 1 && pool().run(chunks, f, threads)) return;
  for (std::int64_t i = 0; i < chunks; ++i) f(i);
}

}  // namespace gradus
