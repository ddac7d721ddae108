#pragma once
// Busy waiting, for the allocator, the tape and the thread pool.

#include <atomic>

#include "gradus/core/detail/platform.h"

namespace gradus {

using platform::cpu_pause;

/// A lock for a few instructions. Yields when its owner seems to have lost its core.
class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  void wait();
  std::atomic<bool> locked_{false};
};

}  // namespace gradus
