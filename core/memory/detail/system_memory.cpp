#include "gradus/core/memory/detail/system_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "gradus/core/detail/platform.h"
#include "gradus/core/memory/detail/block.h"
#include "gradus/core/memory/detail/huge_pages.h"

namespace gradus {

using platform::kLargestPage;

namespace {

/// Null where the system has no huge pages for blocks of this size, or no addresses left to map.
Block* map_block(std::size_t capacity) {
  const platform::Pages* const pages = platform::system().pages;
  if (!pages || capacity < kSharedHugePage) return nullptr;
  if (capacity < kHugePage) return region_allocate(capacity);
  // The data starts on a huge page; the header is the end of the ordinary page before it.
  char* const data = pages->map(capacity, kHugePage, kLargestPage);
  return data ? reinterpret_cast<Block*>(data - kBlockHeader) : nullptr;
}

}  // namespace

Block* system_allocate(std::size_t capacity) {
  const std::size_t bytes = sizeof(Block) + capacity;
  void* const mapped = map_block(capacity);
  // Where addresses are limited (ulimit -v) and none can be mapped, malloc may still have some: it keeps
  // those of small blocks that were freed, since here and there one between them is in use.
  void* const memory = mapped ? mapped : std::aligned_alloc(alignof(Block), bytes);
  if (!memory) return nullptr;
  // Every page is touched now, so that no later step takes a page fault for one that was not needed so far.
  // Large blocks need not: few are taken, and not all of them are filled.
  if (capacity < kHugePage) {
    for (std::size_t at = 0; at < bytes; at += platform::kSmallestPage) static_cast<char*>(memory)[at] = 0;
    static_cast<char*>(memory)[bytes - 1] = 0;
  }
  auto* const block = new (memory) Block{};
  block->capacity = capacity;
  block->mapped = mapped != nullptr;
  return block;
}

void system_free(Block* block) {
  const std::size_t capacity = block->capacity;
  if (!block->mapped)
    std::free(block);
  else if (capacity < kHugePage)
    region_free(block, capacity);
  else
    platform::system().pages->unmap(reinterpret_cast<char*>(block + 1) - kLargestPage,
                                    kLargestPage + capacity);
}

std::size_t memory_limit() {
  static constinit std::atomic<std::size_t> known = 0;
  std::size_t limit = known.load(std::memory_order_relaxed);
  if (limit == 0) known.store(limit = platform::system().memory_limit(), std::memory_order_relaxed);
  return limit;
}

std::size_t memory_available() { return platform::system().memory_available(); }

}  // namespace gradus
