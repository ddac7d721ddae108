#include "gradus/core/memory/detail/system_memory.h"

#include <atomic>
#include <cstdlib>

#include "gradus/core/detail/platform.h"
#include "gradus/core/memory/detail/block.h"
#include "gradus/core/memory/detail/huge_pages.h"

namespace gradus {

using platform::kLargestPage;

Block* system_allocate(std::size_t capacity) {
  const platform::Pages* const pages = platform::system().pages;
  if (pages && capacity >= kHugePage) {
    // The data starts on a huge page; the header is the end of the ordinary page before it.
    char* const data = pages->map(capacity, kHugePage, kLargestPage);
    return data ? reinterpret_cast<Block*>(data - kBlockHeader) : nullptr;
  }
  const std::size_t bytes = sizeof(Block) + capacity;
  void* const memory = pages && capacity >= kSharedHugePage ? region_allocate(capacity)
                                                            : std::aligned_alloc(alignof(Block), bytes);
  // Every page is touched now, so that no later step takes a page fault for one that was not needed so far.
  // Large blocks need not: few are taken, and not all of them are filled.
  if (!memory || capacity >= kHugePage) return static_cast<Block*>(memory);
  for (std::size_t at = 0; at < bytes; at += platform::kSmallestPage) static_cast<char*>(memory)[at] = 0;
  static_cast<char*>(memory)[bytes - 1] = 0;
  return static_cast<Block*>(memory);
}

void system_free(Block* block, std::size_t capacity) {
  const platform::Pages* const pages = platform::system().pages;
  if (pages && capacity >= kHugePage)
    pages->unmap(reinterpret_cast<char*>(block + 1) - kLargestPage, kLargestPage + capacity);
  else if (pages && capacity >= kSharedHugePage)
    region_free(block, capacity);
  else
    std::free(block);
}

std::size_t memory_limit() {
  static constinit std::atomic<std::size_t> known = 0;
  std::size_t limit = known.load(std::memory_order_relaxed);
  if (limit == 0) known.store(limit = platform::system().memory_limit(), std::memory_order_relaxed);
  return limit;
}

std::size_t memory_available() { return platform::system().memory_available(); }

}  // namespace gradus
