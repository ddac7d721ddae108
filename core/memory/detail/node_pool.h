#pragma once
// Memory for the tape's nodes: small blocks, taken and freed with every op. Each thread keeps a list of free
// blocks per size, which needs no lock.
//
// A graph may be built on one thread and dropped on another: one list would grow without end while the other
// thread asks the system for more. So a list holds at most two batches of kBatch blocks. A thread that frees
// more passes a whole batch to the depot, which all threads share behind a lock; a thread without free blocks
// takes one from there. The pool therefore never holds more than the most nodes of each size that were alive
// at once and two batches per thread and size.

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gradus::node_pool {

inline constexpr std::size_t kStep = 128;    // block sizes are multiples of this
inline constexpr std::size_t kSizes = 32;    // up to 4 KiB; larger nodes go to the system
inline constexpr std::uint32_t kBatch = 64;  // blocks; one lock for so many nodes

struct FreeBlock {
  FreeBlock* next;
  FreeBlock* next_batch;  // in the depot, of the first block of a batch
};

/// One thread's free blocks of one size. No destructor and no flag: a thread that has not used the pool, or
/// whose pool is gone, has room for none.
struct FreeList {
  FreeBlock* first = nullptr;
  std::uint32_t room = 0;     // how many more fit; of a list in use, kBatch less its blocks
  FreeBlock* full = nullptr;  // another kBatch blocks, or null
};
inline constinit thread_local FreeList lists[kSizes];

inline std::size_t size_index(std::size_t bytes) { return (bytes - 1) / kStep; }

/// When the list is empty, full, or there is none for this size.
void* take_slowly(std::size_t bytes);
void give_slowly(void* memory, std::size_t bytes) noexcept;

/// Throws like operator new.
inline void* take(std::size_t bytes) {
  const std::size_t index = size_index(bytes);
  if (index >= kSizes || !lists[index].first) [[unlikely]]
    return take_slowly(bytes);
  FreeList& list = lists[index];
  ++list.room;
  return std::exchange(list.first, list.first->next);
}

/// Any thread may free a block another one took.
inline void give(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = size_index(bytes);
  if (index >= kSizes || lists[index].room == 0) [[unlikely]]
    return give_slowly(memory, bytes);
  FreeList& list = lists[index];
  --list.room;
  auto* const block = static_cast<FreeBlock*>(memory);
  block->next = std::exchange(list.first, block);
}

/// Returns the free blocks of the depot and of this thread to the system; tells whether there were any.
bool empty() noexcept;

/// Bytes of nodes, in use or free.
std::int64_t bytes();

}  // namespace gradus::node_pool
