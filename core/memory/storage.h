#pragma once
// Reference-counted memory from a caching allocator: 64-byte aligned, reused by size class, never zeroed.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "gradus/core/cxx20.h"

namespace gradus {

/// Bytes between the beginning of a block and its data.
inline constexpr std::size_t kBlockHeader = 64;

/// The start of a block's header; the allocator's own part follows (detail/block.h).
struct StorageBlock {
  std::atomic<std::int64_t> references;  // how many handles share it
  std::size_t bytes;                     // requested
  std::atomic<std::uint32_t> version;    // raised by every in-place write: see Saved in autograd.h

  void* data() { return reinterpret_cast<char*>(this) + kBlockHeader; }
};

/// A shared handle to one block; the block returns to the cache with its last handle.
class Storage {
 public:
  Storage() = default;
  /// Takes a block of at least `bytes`; throws Error when the system has no memory left.
  static Storage allocate(std::size_t bytes);

  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    // The only handle needs no atomic subtraction: no other handle can be copied.
    if (block_ && (unique() || block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
      release(block_);
  }

  explicit operator bool() const { return block_ != nullptr; }
  void* data() const { return block_->data(); }
  std::size_t bytes() const { return block_->bytes; }  // requested
  /// Raised by every in-place write.
  std::uint32_t version() const { return block_->version.load(std::memory_order_relaxed); }
  /// A write is to follow.
  void bump_version() const { block_->version.fetch_add(1, std::memory_order_relaxed); }
  /// True when no other handle shares the block.
  bool unique() const { return block_->references.load(std::memory_order_acquire) == 1; }
  friend bool operator==(const Storage& a, const Storage& b) { return a.block_ == b.block_; }

 private:
  static void release(StorageBlock* block) noexcept;
  StorageBlock* block_ = nullptr;
};

// When memory runs out, the cache and the memory of dropped nodes are released first, then an Error is
// thrown, and the library keeps working. That holds for arrays and, once there was an array, for every
// operator new of the program: the library sets a std::new_handler. One that the program had set before is
// called when the cache is empty, instead of throwing; one that it sets later replaces the library's.

/// The allocator's memory. Live: in use by arrays; cached: free, kept for reuse. A request is rounded up to
/// its size class, by at most an eighth (from 512 bytes on), from 2 MiB on possibly by a quarter more.
struct MemoryStats {
  std::int64_t live_bytes = 0;          // in use by arrays now
  std::int64_t peak_bytes = 0;          // the most that were
  std::int64_t cached_bytes = 0;        // free, kept for reuse
  std::int64_t node_bytes = 0;          // of the tape's nodes, alive or kept for reuse; in none of the others
  std::int64_t live_blocks = 0;         // arrays' blocks now
  std::int64_t total_allocations = 0;   // calls since the start
  std::int64_t system_allocations = 0;  // of those, served by the operating system
};

/// `memory_stats().peak_bytes`
MemoryStats memory_stats();
/// Resets the peak to the live bytes.
void reset_peak_memory();
/// Returns the cached blocks and the memory of dropped tape nodes to the system: those below 128 KiB to
/// malloc. Every other thread keeps the memory of at most 128 nodes of each size.
void empty_cache();

/// Fills fresh and freed memory with NaN to expose reads of unwritten or freed memory; also enabled by the
/// environment variable GRADUS_POISON=1. Slow: for tests.
void set_memory_poison(bool on);
bool memory_poison();

}  // namespace gradus
