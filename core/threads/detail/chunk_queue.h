#pragma once
// Assigns the chunks of a parallel loop to threads.
//
// Each thread owns a contiguous part of the chunks and takes them in order; when done, it helps with the rest
// of the others'. Successive loops over the rows of an array thus find their rows in the cache of the core
// that wrote them: fetching them from another core's takes several times as long.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradus {

class ChunkQueue {
 public:
  /// Chunks 0 .. chunks - 1 for threads 0 .. threads - 1. No thread may be drawing.
  void deal(std::int64_t chunks, int threads) {
    used_ = static_cast<std::size_t>(std::min<std::int64_t>(chunks, threads));
    if (parts_.size() < used_) parts_ = std::vector<Part>(used_);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      const std::int64_t left = static_cast<std::int64_t>(used_ - i);
      parts_[i].next.store(begin, std::memory_order_relaxed);
      parts_[i].end = begin += (chunks - begin + left - 1) / left;
    }
    stop_.store(chunks, std::memory_order_relaxed);
  }

  /// The next chunk for a thread, or -1.
  std::int64_t draw(int thread) {
    for (std::size_t i = 0, own = static_cast<std::size_t>(thread); i < used_; ++i) {
      Part& part = parts_[(own + i) % used_];
      if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
      const std::int64_t chunk = part.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk < part.end && chunk < stop_.load(std::memory_order_relaxed)) return chunk;
    }
    return -1;
  }

  /// Chunks not yet drawn.
  std::int64_t left() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < used_; ++i)
      sum += std::max<std::int64_t>(0, parts_[i].end - parts_[i].next.load(std::memory_order_relaxed));
    return sum;
  }

  /// Skips chunks from this one on; all before it will be done.
  void stop_at(std::int64_t chunk) {
    std::int64_t before = stop_.load(std::memory_order_relaxed);
    while (chunk < before && !stop_.compare_exchange_weak(before, chunk, std::memory_order_relaxed)) {
    }
  }

 private:
  struct alignas(64) Part {  // a cache line each
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  std::vector<Part> parts_;
  std::size_t used_ = 0;
  std::atomic<std::int64_t> stop_{0};
};

}  // namespace gradus
