#pragma once
// The pool behind parallel_for. One job runs at a time. The caller is thread 0 of it, worker i is
// thread i + 1.
//
// `state_` holds everything workers and caller must agree on: how many workers are inside the job, kOpen
// while it accepts more, kCallerSleeps when the last one to leave must wake the caller. A worker enters by
// incrementing the count while kOpen is set, so the caller waits for those inside, never for one still
// waking.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "gradus/core/threads/detail/chunk_queue.h"
#include "gradus/core/threads/parallel.h"

namespace gradus {

/// True on workers, inside a job and under SingleThread: work runs on this thread alone.
inline constinit thread_local bool runs_alone = false;

class ThreadPool {
 public:
  /// Runs the job on `threads` threads; returns false, having done nothing, when another job is running.
  bool run(std::int64_t chunks, detail::ChunkFunction work, int threads, Wake wake);
  /// Ends the workers; jobs are refused from then on.
  void stop();

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;
  static constexpr std::uint32_t kCallerSleeps = 1u << 30;

  void resize(int workers);
  void wake_workers(std::int64_t most);
  void begin_with_sleepers(Wake wake);
  bool draw_chunk(int thread);
  void draw_chunks(int thread);
  void wait_for_workers();
  void run_worker(int index);
  bool enter();
  void leave();
  void fail_chunk(std::int64_t chunk);

  std::atomic<bool> running_{false};  // held by the thread whose job runs
  std::vector<std::thread> threads_;
  bool stopped_ = false;
  // Time spent on loops without waking anybody, since the last pause; when the last of them ended.
  std::chrono::steady_clock::duration alone_{};
  std::chrono::steady_clock::time_point alone_until_;

  // The job: written while no thread is inside, read by those inside.
  ChunkQueue chunks_;
  const detail::ChunkFunction* work_ = nullptr;

  alignas(64) std::atomic<std::uint32_t> state_{0};

  alignas(64) std::mutex mutex_;  // guards sleep, and the error
  std::condition_variable wake_, done_;
  std::atomic<int> sleepers_{0};
  std::atomic<int> wanted_{0};  // workers with a higher index end
  std::exception_ptr error_;
  std::int64_t error_chunk_ = 0;
};

/// In a forked child, which has none of its parent's threads: it starts its own pool when it needs one.
void forget_pool();

}  // namespace gradus
