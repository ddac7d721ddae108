#pragma once
// The locks shared by all threads, and how fork() handles them.
//
// fork() copies locks as they are, but only the calling thread: a lock held by another would stay locked in
// the child forever. So a fork takes all of them first, in the order below, and both sides release them
// (locks.cpp). A thread that holds one may take those after it, never those before it.
//
// For the same reason nothing shared by threads is a function-local static with a constructor: its first use
// holds a lock of the compiler's.

#include <atomic>
#include <mutex>
#include <thread>

#include "gradus/core/threads/detail/spin.h"

namespace gradus::locks {

/// For calls into a library with its own locks: many threads may be inside at once, but none during a fork.
class Gate {
 public:
  void enter() {
    while (inside_.fetch_add(1), closed_.load()) {
      inside_.fetch_sub(1);
      while (closed_.load()) std::this_thread::yield();
    }
  }
  void leave() { inside_.fetch_sub(1); }

  void close() {
    closed_.store(true);
    while (inside_.load() > 0) std::this_thread::yield();
  }
  void open() { closed_.store(false); }
  void open_in_child() {  // no thread waits there
    inside_.store(0);
    open();
  }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<bool> closed_ = false;
};

/// Forks between the process that loaded the library and this one. A child has none of its parent's threads:
/// the owner of a thread compares this number with the one from when the thread began.
int forks();

extern std::mutex names;    // of intern()
extern Gate blas;           // of OpenBLAS
extern SpinLock gradients;  // of leaves, among backward passes
extern SpinLock ledgers;    // of all profiles
extern SpinLock regions;    // of huge pages
extern SpinLock& cache;     // of the allocator
extern SpinLock depot;      // of nodes' memory

}  // namespace gradus::locks
