// A region is 32 MiB of addresses on huge pages. Blocks are cut off one after the other, never split or
// joined: the allocator's cache reuses them whole. Pages not yet used by a block cost nothing.

#include "gradus/core/memory/detail/huge_pages.h"

#include <cstdint>
#include <mutex>
#include <new>

#include "gradus/core/detail/platform.h"
#include "gradus/core/memory/detail/asan.h"
#include "gradus/core/memory/detail/block.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {
namespace {

constexpr std::size_t kRegion = std::size_t{32} << 20;

/// Left between blocks. A load waits for a store just before it whose address agrees in the last 12 bits:
/// arrays of 2^n bytes that are written and read side by side must not lie at nearly the same place of their
/// pages. AddressSanitizer reports accesses here.
constexpr std::size_t kGap = 576;

/// Lies at the start of its region, at a multiple of kRegion: a block finds it by its own address.
struct alignas(64) Region {
  std::size_t used = sizeof(Region);  // bytes cut off so far
  std::size_t blocks = 0;             // of those, not given back
};

Region* region_of(Block* block) {
  return reinterpret_cast<Region*>(reinterpret_cast<std::uintptr_t>(block) & ~(kRegion - 1));
}

// All regions are guarded by locks::regions; system calls are made outside it.
Region* current = nullptr;  // new blocks come from here

Block* cut(Region* region, std::size_t bytes) {
  if (!region || region->used + bytes + kGap > kRegion) return nullptr;
  char* const block = reinterpret_cast<char*>(region) + region->used;
  ASAN_POISON_MEMORY_REGION(block + bytes, kGap);
  region->used += bytes + kGap;
  ++region->blocks;
  return reinterpret_cast<Block*>(block);
}

}  // namespace

Block* region_allocate(std::size_t capacity) {
  const std::size_t bytes = sizeof(Block) + capacity;
  {
    const std::lock_guard guard(locks::regions);
    if (Block* const block = cut(current, bytes)) return block;
  }
  char* const memory = platform::system().pages->map(kRegion, kRegion, 0);
  if (!memory) return nullptr;
  const std::lock_guard guard(locks::regions);
  current = new (memory) Region;  // the rest of the previous region is not used
  return cut(current, bytes);
}

void region_free(Block* block, std::size_t capacity) {
  Region* const region = region_of(block);
  const platform::Pages& pages = *platform::system().pages;
  char* const start = reinterpret_cast<char*>(block);
  pages.give_back(reinterpret_cast<char*>(region), kRegion, start, start + sizeof(Block) + capacity);
  ASAN_POISON_MEMORY_REGION(block, sizeof(Block) + capacity);
  bool last = false;
  {
    const std::lock_guard guard(locks::regions);
    if (region == current) current = nullptr;  // it has no huge pages to come
    last = --region->blocks == 0;
  }
  if (!last) return;
  ASAN_UNPOISON_MEMORY_REGION(region, kRegion);
  pages.unmap(reinterpret_cast<char*>(region), kRegion);
}

}  // namespace gradus
