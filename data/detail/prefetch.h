#pragma once
// Prefetch: a thread that makes the batches of an epoch before they are needed.

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

/// Makes a batch; once `stop` is set, the result is no longer needed.
using MakeBatch = std::function<std::vector<Tensor>(std::int64_t number, const std::atomic<bool>& stop)>;

class Prefetch {
 public:
  /// The deleter. In a forked child, which has a copy of the object but no thread, it does nothing: the
  /// thread may have held the lock or been in the middle of a batch.
  struct End {
    void operator()(Prefetch* prefetch) const {
      if (prefetch->has_thread()) delete prefetch;
    }
  };
  using Pointer = std::unique_ptr<Prefetch, End>;

  /// Makes batches begin .. end - 1, at most `ahead` of them in advance. Throws std::system_error when the
  /// system cannot start a thread.
  Prefetch(std::int64_t begin, std::int64_t end, std::int64_t ahead, MakeBatch make);
  /// Waits for the item being made.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// False in a forked child, which must call nothing else.
  bool has_thread() const { return locks::forks() == forks_; }

  /// Returns the next batch, or throws the exception thrown while making it; after that no batch follows.
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
  std::vector<Place> ring_;  // batch i is at i % ring_.size() from when it is made until it is taken
  std::mutex mutex_;         // guards made_ and taken_, which decide which thread uses a place
  std::condition_variable news_;
  std::int64_t made_, taken_;  // the batches before made_ are made, those before taken_ are taken
  std::atomic<bool> stop_ = false;
  const int forks_ = locks::forks();
  std::thread thread_;
};

}  // namespace gradus::data::detail
