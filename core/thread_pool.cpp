#include "gradus/core/thread_pool.h"

#include <sched.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "gradus/core/spin.h"

namespace gradus {
namespace {

constexpr auto kSpin = std::chrono::microseconds(50);

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

struct ReleaseGuard {
  std::atomic<bool>& held;
  ~ReleaseGuard() { held.store(false, std::memory_order_release); }
};

}  // namespace

int available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // Fails only on machines with more than CPU_SETSIZE (1024) cores.
  if (sched_getaffinity(0, sizeof cores, &cores) != 0)
    return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&cores);
}

bool ThreadPool::run(std::int64_t chunks, detail::ChunkFunction work, int threads) {
  if (running_.exchange(true, std::memory_order_acquire)) return false;
  const ReleaseGuard release{running_};
  if (stopped_) return false;
  if (threads - 1 != static_cast<int>(threads_.size())) resize(threads - 1);

  chunks_ = chunks;
  work_ = &work;
  next_.store(0, std::memory_order_relaxed);
  open();
  runs_alone = true;
  draw_chunks();
  runs_alone = false;
  wait_for_workers();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return true;
}

void ThreadPool::resize(int workers) {
  wanted_.store(workers);
  if (workers < static_cast<int>(threads_.size())) {
    wake(static_cast<std::int64_t>(threads_.size()));
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

void ThreadPool::open() {
  state_.store(kOpen);  // before reading sleepers_: a worker raises that before it reads state_
  if (sleepers_.load() > 0) wake(chunks_ - 1);
}

void ThreadPool::wake(std::int64_t workers) {
  mutex_.lock();  // a worker between its last look and its sleep would miss the call
  mutex_.unlock();
  if (workers >= static_cast<std::int64_t>(threads_.size())) return wake_.notify_all();
  for (std::int64_t i = 0; i < workers; ++i) wake_.notify_one();
}

void ThreadPool::draw_chunks() {
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
void ThreadPool::fail_chunk(std::int64_t chunk) {
  next_.store(chunks_, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (error_ && error_chunk_ < chunk) return;
  error_ = std::current_exception();
  error_chunk_ = chunk;
}

void ThreadPool::wait_for_workers() {
  if (spin_until(wanted_.load() + 1, [this] { return state_.load(std::memory_order_acquire) == 0; })) return;
  std::unique_lock lock(mutex_);
  state_.fetch_or(kCallerSleeps, std::memory_order_relaxed);
  done_.wait(lock, [this] { return state_.load(std::memory_order_acquire) == kCallerSleeps; });
  state_.store(0, std::memory_order_relaxed);
}

bool ThreadPool::enter() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  while (state & kOpen)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return true;
  return false;
}

void ThreadPool::leave() {
  if (state_.fetch_sub(1, std::memory_order_acq_rel) != (kCallerSleeps | 1)) return;
  const std::lock_guard lock(mutex_);
  done_.notify_one();
}

void ThreadPool::run_worker(int index) {
  runs_alone = true;
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

void ThreadPool::stop() {
  // exit() from inside a job: the workers go with the process.
  if (running_.exchange(true, std::memory_order_acquire)) return;
  const ReleaseGuard release{running_};
  resize(0);
  stopped_ = true;
}

}  // namespace gradus
