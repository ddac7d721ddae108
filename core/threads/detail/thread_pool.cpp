#include "gradus/core/threads/detail/thread_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <utility>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/threads/detail/spin.h"

namespace gradus {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread waits for work before it sleeps, and how often it offers its core to others meanwhile.
constexpr auto kSpin = std::chrono::microseconds(50), kTurn = std::chrono::microseconds(5);
// Waking a thread takes its caller 5 to 10 us, and it arrives later still: with about 50 us of work left, two
// are done as soon as one.
constexpr auto kWorthWaking = std::chrono::microseconds(50);

/// Pauses until `ready` or until kSpin has passed; returns whether it is ready. With more threads than cores
/// it gives up soon: the core is needed by those who have work. Even with fewer, a system may put two threads
/// on one core, where the one that waits would keep the other from its work: so it yields.
template <class Ready>
bool spin_until(int threads, Ready ready) {
  static constinit std::atomic<int> known = 0;  // cores
  if (ready()) return true;
  int cores = known.load(std::memory_order_relaxed);
  if (cores == 0) known.store(cores = platform::system().cores(), std::memory_order_relaxed);
  const auto begin = Clock::now();
  for (auto turn = begin;;) {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      cpu_pause();
    }
    const auto now = Clock::now();
    if (threads > cores || now - begin > kSpin) return ready();
    if (now - turn > kTurn) {
      std::this_thread::yield();
      turn = now;
    }
  }
}

struct ReleaseGuard {
  std::atomic<bool>& held;
  ~ReleaseGuard() { held.store(false, std::memory_order_release); }
};

}  // namespace

bool ThreadPool::run(std::int64_t chunks, detail::ChunkFunction work, int threads, Wake wake) {
  if (running_.exchange(true, std::memory_order_acquire)) return false;
  const ReleaseGuard release{running_};
  if (stopped_) return false;
  if (threads - 1 != static_cast<int>(threads_.size())) resize(threads - 1);

  chunks_.deal(chunks, threads);
  work_ = &work;
  state_.store(kOpen);  // before reading sleepers_: a worker raises that before it reads state_
  runs_alone = true;
  if (sleepers_.load() > 0) begin_with_sleepers(wake);
  draw_chunks(0);
  runs_alone = false;
  wait_for_workers();
  if (error_) ErrorCalls::rethrow(std::exchange(error_, nullptr));
  return true;
}

void ThreadPool::resize(int workers) {
  wanted_.store(workers);
  if (workers < static_cast<int>(threads_.size())) {
    wake_workers(static_cast<std::int64_t>(threads_.size()));
    for (std::size_t i = static_cast<std::size_t>(workers); i < threads_.size(); ++i) threads_[i].join();
    threads_.resize(static_cast<std::size_t>(workers));
  }
  try {
    threads_.reserve(static_cast<std::size_t>(workers));
    for (int i = static_cast<int>(threads_.size()); i < workers; ++i)
      threads_.emplace_back([this, i] { run_worker(i); });
  } catch (const std::exception&) {
    // The system has no more threads, or no memory for them: the ones there are do the work.
  }
}

void ThreadPool::wake_workers(std::int64_t most) {
  alone_ = {};
  mutex_.lock();  // a worker between its last look and its sleep would miss the call
  mutex_.unlock();
  if (most >= static_cast<std::int64_t>(threads_.size())) return wake_.notify_all();
  for (std::int64_t i = 0; i < most; ++i) wake_.notify_one();
}

/// Wakes workers now, or does chunks until their pace shows that the rest would take this thread long: then
/// one is woken for every kWorthWaking of it. Short loops that follow each other closely count together. The
/// clock costs as much as a small chunk, so it is read after 1, 2, 4, 8, ... of them.
void ThreadPool::begin_with_sleepers(Wake wake) {
  const auto start = Clock::now();
  if (start - alone_until_ > kSpin) alone_ = {};  // in such a pause a woken worker would sleep again
  if (wake == Wake::at_once || alone_ > kWorthWaking) return wake_workers(chunks_.left() - 1);
  for (std::uint64_t done = 1; draw_chunk(0); ++done) {
    const std::int64_t left = chunks_.left();
    if (left <= 1 || !std::has_single_bit(done)) continue;  // one is for this thread
    const std::chrono::duration<double> each = (Clock::now() - start) / static_cast<double>(done);
    const double worth = each * static_cast<double>(left) / kWorthWaking;
    if (worth > 1)
      return wake_workers(static_cast<std::int64_t>(std::min(worth, static_cast<double>(left - 1))));
  }
  alone_until_ = Clock::now();
  alone_ += alone_until_ - start;
}

/// Does a chunk; false when none is left.
bool ThreadPool::draw_chunk(int thread) {
  const std::int64_t chunk = chunks_.draw(thread);
  if (chunk < 0) return false;
  try {
    (*work_)(chunk);
  } catch (...) {
    fail_chunk(chunk);
  }
  return true;
}

void ThreadPool::draw_chunks(int thread) {
  while (draw_chunk(thread)) {
  }
  state_.fetch_and(~kOpen, std::memory_order_relaxed);
}

// All chunks before a failing one are done: the lowest failing chunk is the same for any number of threads,
// and its exception is the one to report.
void ThreadPool::fail_chunk(std::int64_t chunk) {
  chunks_.stop_at(chunk);
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
      if (!called()) wake_.wait(lock);  // who comes too late for this job spins for the next
      sleepers_.fetch_sub(1);
    }
    if (index >= wanted_.load()) return;
    if (!enter()) continue;
    draw_chunks(index + 1);
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
