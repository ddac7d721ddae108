#pragma once
// One thread pool for the whole library.
//
// Sums are split into chunks whose sizes depend only on the problem, never on the number of threads, and
// callers combine them in chunk order: results are bit-identical for any number of threads. Work without sums
// over chunks, such as the tiles of a matrix product, may be split by the number of threads.

#include <cstdint>
#include <memory>
#include <type_traits>

#include "gradus/core/cxx20.h"

namespace gradus {

/// How many threads work on one op (the calling thread included). Starts at the number of cores this process
/// may use, or the environment variable GRADUS_NUM_THREADS. Throws below 1 or above 1024.
///
/// A program may fork() while its other threads use the library: the child has all arrays, starts its own
/// threads and may run anything. But a child forked inside a function given to parallel_for must not return
/// from it: the rest of the loop belongs to the parent.
void set_num_threads(std::int64_t threads);
int num_threads();

/// Runs everything on this thread without the pool for one scope: for programs that run independent jobs on
/// their own threads.
class SingleThread {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  bool before_;
};

/// When a loop wakes sleeping threads. Waking one costs the caller 5 to 10 us, more than a small op.
enum class Wake {
  if_long,  // when the first chunks, done without them, show that the rest takes long
  at_once   // for heavy chunks: no thread should sleep through the first of them
};

namespace detail {
/// A borrowed callable: two pointers, no allocation.
class ChunkFunction {
 public:
  template <class F>
  ChunkFunction(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, std::int64_t chunk) { (*static_cast<F*>(object))(chunk); }) {}
  void operator()(std::int64_t chunk) const { call_(object_, chunk); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t);
};

/// Calls f(0) .. f(chunks - 1), each once, on the pool's threads; returns when all are done. The exception of
/// the first chunk that fails is rethrown here, and chunks not yet begun are skipped.
void run_chunks(std::int64_t chunks, ChunkFunction f, Wake wake);
}  // namespace detail

/// f(begin, end) over [0, n) in pieces of `grain` (the last may be shorter), on this thread, those still
/// awake from the previous loop, and sleeping ones according to `wake`.
/// `parallel_for(n, 4096, [&](int64_t begin, int64_t end) { ... });`
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& f, Wake wake = Wake::if_long) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (n <= grain) {
    f(std::int64_t{0}, n);
    return;
  }
  const auto chunk = [&](std::int64_t i) {
    const std::int64_t begin = i * grain;
    f(begin, n - begin < grain ? n : begin + grain);
  };
  detail::run_chunks((n - 1) / grain + 1, detail::ChunkFunction(chunk), wake);
}

}  // namespace gradus
