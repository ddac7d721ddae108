// A region is 32 MiB of addresses on huge pages. Blocks are cut off one after the other, never split or
// joined: the allocator's cache hands them out again whole. Pages that no block has come to cost nothing.

#include "gradus/core/memory/detail/huge_pages.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <new>

#include "gradus/core/memory/detail/block.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {
namespace {

constexpr std::size_t kRegion = std::size_t{32} << 20;

/// Left between blocks. A load waits for a store just before it whose address agrees in the last 12 bits:
/// arrays of 2^n bytes that are written and read side by side must not lie at nearly the same place of their
/// pages. AddressSanitizer reports whoever comes here.
constexpr std::size_t kGap = 576;

/// Stands at the start of its region, at a multiple of kRegion: a block finds it by its own address.
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

char* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t lead) {
  const std::size_t length = lead + bytes;  // of a mapping with room to move its start
  void* const mapping =
      mmap(nullptr, length + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping);
  const std::size_t past_boundary = (reinterpret_cast<std::uintptr_t>(first) + lead) % alignment;
  const std::size_t before = past_boundary == 0 ? 0 : alignment - past_boundary;
  if (before > 0) munmap(first, before);
  munmap(first + before + length, alignment - before);
  char* const aligned = first + before + lead;
  madvise(aligned, bytes, MADV_HUGEPAGE);  // a wish: where it is not granted, ordinary pages do
  return aligned;
}

Block* region_allocate(std::size_t capacity) {
  const std::size_t bytes = sizeof(Block) + capacity;
  {
    const std::lock_guard guard(locks::regions);
    if (Block* const block = cut(current, bytes)) return block;
  }
  char* const memory = map_aligned(kRegion, kRegion, 0);
  if (!memory) return nullptr;
  const std::lock_guard guard(locks::regions);
  current = new (memory) Region;  // what is left of the one before stays untouched
  return cut(current, bytes);
}

void region_free(Block* block, std::size_t capacity) {
  Region* const region = region_of(block);
  const auto start = reinterpret_cast<std::uintptr_t>(block), end = start + sizeof(Block) + capacity;
  char* const first_page = reinterpret_cast<char*>((start + kPage - 1) / kPage * kPage);
  // Without the first call the system, tidying up, would make the hole part of a huge page again.
  madvise(region, kRegion, MADV_NOHUGEPAGE);
  madvise(first_page, end / kPage * kPage - reinterpret_cast<std::uintptr_t>(first_page), MADV_DONTNEED);
  ASAN_POISON_MEMORY_REGION(block, sizeof(Block) + capacity);
  bool last = false;
  {
    const std::lock_guard guard(locks::regions);
    if (region == current) current = nullptr;  // it has no huge pages to come
    last = --region->blocks == 0;
  }
  if (!last) return;
  ASAN_UNPOISON_MEMORY_REGION(region, kRegion);
  munmap(region, kRegion);
}

}  // namespace gradus
