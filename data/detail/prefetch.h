#pragma once
// Prefetch: a thread that makes the batches of an epoch ahead of who takes them.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus::data::detail {

/// Makes a batch; once `stop` is set nobody wants it any more.
using MakeBatch = std::function<std::vector<Tensor>(std::int64_t number, const std::atomic<bool>& stop)>;

class Prefetch {
 public:
  /// Ends one. In a forked child, which has a copy but not its thread, the copy stays as it is: the thread
  /// may have held the lock or been in the middle of a batch.
  struct End {
    void operator()(Prefetch* prefetch) const {
      if (prefetch->has_thread()) delete prefetch;
    }
  };
  using Pointer = std::unique_ptr<Prefetch, End>;

  /// Batches begin .. end - 1, at most `ahead` before they are asked for. Throws std::system_error when the
  /// system has no thread.
  Prefetch(std::int64_t begin, std::int64_t end, std::int64_t ahead, MakeBatch make);
  /// Waits for the item that is being made.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// False in a forked child: nothing else may be called there.
  bool has_thread() const { return locks::forks() == forks_; }

  /// The next batch, or what was thrown in its place; after that there are no more.
  std::vector<Tensor> next();

 private:
  struct Place {
    std::vector<Tensor> batch;
    std::exception_ptr error;
  };
  Place& place(std::int64_t number) { return ring_[static_cast<std::size_t>(number) % ring_.size()]; }
  void run();

  const MakeBatch make_;
  const std::int64_t end_;
  std::vector<Place> ring_;  // batch i, from when it is made until it is taken, at i % ring_.size()
  std::mutex mutex_;         // guards made_, taken_ and, with them, whose turn each place is
  std::condition_variable news_;
  std::int64_t made_, taken_;  // batches before these are
  std::atomic<bool> stop_ = false;
  const int forks_ = locks::forks();
  std::thread thread_;
};

}  // namespace gradus::data::detail
