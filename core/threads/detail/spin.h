#pragma once
// Busy waiting, for the allocator, the tape and the thread pool.

#include <atomic>

namespace gradus {

/// Tells the CPU that this is a waiting loop: saves power and leaves the core to its other hardware thread.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

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
