#include "gradus/core/memory/detail/node_pool.h"

#include <atomic>
#include <mutex>
#include <new>

#include "gradus/core/threads/detail/locks.h"

namespace gradus::node_pool {
namespace {

std::atomic<std::int64_t> taken{0};  // from the system

// Guarded by locks::depot. Never destroyed: threads may outlive main.
constinit FreeBlock* depot[kSizes] = {};

std::size_t block_size(std::size_t bytes) {
  const std::size_t index = size_index(bytes);
  return index < kSizes ? (index + 1) * kStep : bytes;
}

void* take_from_system(std::size_t size) {
  void* const memory = ::operator new(size);
  taken.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  return memory;
}

void give_to_system(void* memory, std::size_t size) {
  ::operator delete(memory);
  taken.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
}

bool give_all_to_system(FreeBlock* block, std::size_t index) {
  const bool any = block != nullptr;
  while (block) give_to_system(std::exchange(block, block->next), (index + 1) * kStep);
  return any;
}

FreeBlock* take_batch(std::size_t index) {
  const std::lock_guard guard(locks::depot);
  FreeBlock* const batch = depot[index];
  if (batch) depot[index] = batch->next_batch;
  return batch;
}

void give_batch(FreeBlock* batch, std::size_t index) {
  const std::lock_guard guard(locks::depot);
  batch->next_batch = std::exchange(depot[index], batch);
}

bool empty_lists(std::uint32_t room) {
  bool any = false;
  for (std::size_t index = 0; index < kSizes; ++index) {
    const FreeList list = std::exchange(lists[index], {.room = room});
    any |= give_all_to_system(list.first, index);
    any |= give_all_to_system(list.full, index);
  }
  return any;
}

// This thread's lists. Thread-locals that die later, and on the main thread globals, may still drop nodes:
// then the system gets them.
enum class Lists : char { unused, in_use, gone };
constinit thread_local Lists state = Lists::unused;

struct AtThreadEnd {
  AtThreadEnd() {
    state = Lists::in_use;
    for (FreeList& list : lists) list.room = kBatch;
  }
  ~AtThreadEnd() {
    state = Lists::gone;
    empty_lists(0);
  }
};

bool lists_in_use() {
  if (state == Lists::unused) static thread_local AtThreadEnd at_thread_end;
  return state == Lists::in_use;
}

}  // namespace

void* take_slowly(std::size_t bytes) {
  const std::size_t index = size_index(bytes);
  if (index < kSizes && lists_in_use()) {
    FreeList& list = lists[index];
    FreeBlock* const batch = list.full ? std::exchange(list.full, nullptr) : take_batch(index);
    if (batch) {
      list.first = batch->next;
      list.room = 1;
      return batch;
    }
  }
  return take_from_system(block_size(bytes));
}

void give_slowly(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = size_index(bytes);
  if (index >= kSizes || !lists_in_use()) return give_to_system(memory, block_size(bytes));
  FreeList& list = lists[index];
  if (list.room == 0) {
    if (list.full) give_batch(list.full, index);
    list.full = std::exchange(list.first, nullptr);
    list.room = kBatch;
  }
  give(memory, bytes);
}

bool empty() noexcept {
  bool any = empty_lists(state == Lists::in_use ? kBatch : 0);
  for (std::size_t index = 0; index < kSizes; ++index)
    while (FreeBlock* const batch = take_batch(index)) any |= give_all_to_system(batch, index);
  return any;
}

std::int64_t bytes() { return taken.load(std::memory_order_relaxed); }

}  // namespace gradus::node_pool
