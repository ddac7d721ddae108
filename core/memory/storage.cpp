// The caching allocator: free blocks wait in one list per size class, behind one lock held for a few
// instructions.

#include "gradus/core/memory/storage.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/memory/detail/block.h"
#include "gradus/core/memory/detail/ledger.h"
#include "gradus/core/memory/detail/node_pool.h"
#include "gradus/core/memory/detail/out_of_memory.h"
#include "gradus/core/memory/detail/system_memory.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {
namespace {

// Larger requests are refused unseen: sums of sizes cannot overflow.
constexpr int kLargestBits = sizeof(std::size_t) == 8 ? 46 : 30;
constexpr std::size_t kLargest = std::size_t{1} << kLargestBits;
constexpr std::size_t kClasses = 8 * (kLargestBits - 8);

struct SizeClass {
  std::uint32_t index;
  std::size_t capacity;
};

/// 64, 128, .. 512 bytes, then eight classes to each doubling, which waste at most an eighth.
SizeClass size_class(std::size_t bytes) {
  if (bytes <= 512) {
    const std::size_t steps = bytes == 0 ? 1 : (bytes + 63) / 64;
    return {static_cast<std::uint32_t>(steps - 1), steps * 64};
  }
  const auto shift = static_cast<std::uint32_t>(std::bit_width(bytes - 1)) - 4;
  const std::size_t steps = ((bytes - 1) >> shift) + 1;  // 9 .. 16
  return {8 * (shift - 6) + static_cast<std::uint32_t>(steps) - 1, steps << shift};
}

[[noreturn]] void refuse(std::size_t bytes, const MemoryStats& stats) {
  const std::size_t limit = memory_limit();
  const auto human = [](auto amount) { return human_bytes(static_cast<double>(amount)); };
  fail_with("storage: cannot allocate {} (live {}, nodes {}, cached {}): {}", human(bytes),
            human(stats.live_bytes), human(stats.node_bytes), human(stats.cached_bytes),
            bytes > limit ? "this machine has " + human(limit) : "the system is out of memory");
}

bool environment_asks_for_poison() {
  const char* value = std::getenv("GRADUS_POISON");
  return value && std::string_view(value) == "1";
}

std::atomic<bool> poison{environment_asks_for_poison()};

/// All bits set: NaN in f32 and f64, -1 in i64. AddressSanitizer then reports any touch of bytes past the
/// first `usable`: beyond the request, or in a freed block.
void protect(Block* block, [[maybe_unused]] std::size_t usable) {
  ASAN_UNPOISON_MEMORY_REGION(block->data(), block->capacity);
  if (poison.load(std::memory_order_relaxed)) std::memset(block->data(), 0xFF, block->capacity);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block->data()) + usable, block->capacity - usable);
}

// Never destroyed: arrays in static objects and thread-locals may be freed after main. Everything is guarded
// by the lock; system calls are made outside it.
struct alignas(64) Cache {
  SpinLock lock;
  MemoryStats stats;
  std::array<Block*, kClasses> free{};

  Block* take(SizeClass wanted);
  [[gnu::noinline]] Block* take_new(std::size_t bytes);  // else every allocation pays for its registers
  void put(Block* block);
  bool empty();
  void count(std::size_t capacity);
};
constinit Cache cache;

void Cache::count(std::size_t capacity) {
  stats.live_bytes += static_cast<std::int64_t>(capacity);
  stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
  ++stats.live_blocks;
  ++stats.total_allocations;
}

/// A free block of the class, or null. A large one may be of the next two classes, up to a quarter larger:
/// that is better than fresh pages.
Block* Cache::take(SizeClass wanted) {
  const std::lock_guard guard(lock);
  const std::uint32_t last = wanted.index + (wanted.capacity >= kHugePage ? 2 : 0);
  for (std::uint32_t index = wanted.index; index <= last && index < kClasses; ++index) {
    Block* const block = free[index];
    if (!block) continue;
    free[index] = block->next_free;
    stats.cached_bytes -= static_cast<std::int64_t>(block->capacity);
    count(block->capacity);
    return block;
  }
  return nullptr;
}

/// A block from the system, unless the machine has too little left for it: Linux would grant it all the same,
/// and kill the process when it is written.
Block* allocate_within(std::size_t limit, const MemoryStats& stats, std::size_t capacity) {
  const auto held = static_cast<std::size_t>(stats.live_bytes + stats.cached_bytes + stats.node_bytes);
  if (held + capacity > limit || (capacity >= kHugePage && capacity > memory_available())) return nullptr;
  return system_allocate(capacity);
}

/// Allocates a new block. If there is no room for it, frees the cache first.
Block* Cache::take_new(std::size_t bytes) {
  handle_failing_new();
  const std::size_t limit = std::min(memory_limit(), kLargest);
  if (bytes > limit) refuse(bytes, memory_stats());
  const auto [index, capacity] = size_class(bytes);
  Block* block = allocate_within(limit, memory_stats(), capacity);
  if (!block && give_back_cached()) block = allocate_within(limit, memory_stats(), capacity);
  if (!block) refuse(bytes, memory_stats());
  block->size_class = index;
  const std::lock_guard guard(lock);
  ++stats.system_allocations;
  count(capacity);
  return block;
}

void Cache::put(Block* block) {
  const std::lock_guard guard(lock);
  block->next_free = free[block->size_class];
  free[block->size_class] = block;
  stats.live_bytes -= static_cast<std::int64_t>(block->capacity);
  stats.cached_bytes += static_cast<std::int64_t>(block->capacity);
  --stats.live_blocks;
}

/// Whether there was anything to give back.
bool Cache::empty() {
  bool any = false;
  std::array<Block*, kClasses> lists{};
  {
    const std::lock_guard guard(lock);
    std::swap(lists, free);
    stats.cached_bytes = 0;
  }
  for (Block* block : lists)
    while (block) {
      Block* const next = block->next_free;
      ASAN_UNPOISON_MEMORY_REGION(block->data(), block->capacity);
      system_free(block);
      block = next;
      any = true;
    }
  return any;
}

}  // namespace

constinit SpinLock& locks::cache = gradus::cache.lock;

Storage Storage::allocate(std::size_t bytes) {
  Block* block = bytes <= kLargest ? cache.take(size_class(bytes)) : nullptr;
  if (!block) [[unlikely]]
    block = cache.take_new(bytes);
  block->references.store(1, std::memory_order_relaxed);
  block->version.store(0, std::memory_order_relaxed);
  block->bytes = bytes;
  protect(block, bytes);
  Storage storage;
  storage.block_ = block;
  if (detail::thread_ledger) [[unlikely]]
    detail::thread_ledger->enter(block);  // which may throw
  return storage;
}

void Storage::release(StorageBlock* released) noexcept {
  auto* const block = static_cast<Block*>(released);
  if (block->ledger) [[unlikely]]
    block->ledger->strike(block);
  protect(block, 0);
  cache.put(block);
}

MemoryStats memory_stats() {
  MemoryStats stats;
  {
    const std::lock_guard guard(cache.lock);
    stats = cache.stats;
  }
  stats.node_bytes = node_pool::bytes();
  return stats;
}

void reset_peak_memory() {
  const std::lock_guard guard(cache.lock);
  cache.stats.peak_bytes = cache.stats.live_bytes;
}

bool give_back_cached() {
  const bool any = node_pool::empty();
  return cache.empty() || any;
}

void empty_cache() { give_back_cached(); }

void set_memory_poison(bool on) { poison.store(on, std::memory_order_relaxed); }
bool memory_poison() { return poison.load(std::memory_order_relaxed); }

}  // namespace gradus
