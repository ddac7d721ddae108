// The caching allocator: free blocks wait in one list per size class behind one lock held for a few
// instructions. Small blocks come from malloc; blocks of 2 MiB and more are mapped, on huge pages.

#include "gradus/core/storage.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "gradus/core/format.h"
#include "gradus/core/spin.h"

namespace gradus {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargest = std::size_t{1}
                                 << 46;  // half the address space: keeps arithmetic from overflowing
constexpr std::size_t kClasses = 8 * (46 - 8);

struct SizeClass {
  std::uint32_t index;
  std::size_t capacity;
};

/// 64, 128, .. 512 bytes, then eight classes to each doubling: at most an eighth is wasted.
SizeClass size_class(std::size_t bytes) {
  if (bytes <= 512) {
    const std::size_t steps = bytes == 0 ? 1 : (bytes + 63) / 64;
    return {static_cast<std::uint32_t>(steps - 1), steps * 64};
  }
  const auto shift = static_cast<std::uint32_t>(std::bit_width(bytes - 1)) - 4;
  const std::size_t steps = ((bytes - 1) >> shift) + 1;  // 9 .. 16
  return {8 * (shift - 6) + static_cast<std::uint32_t>(steps) - 1, steps << shift};
}

bool is_mapped(std::size_t capacity) { return capacity >= kHugePage; }

/// A new block from the system, or null. A mapped block's data starts on a huge page; its header has the
/// ordinary page before it.
StorageBlock* map_block(std::size_t capacity) {
  if (!is_mapped(capacity))
    return static_cast<StorageBlock*>(
        std::aligned_alloc(alignof(StorageBlock), sizeof(StorageBlock) + capacity));
  const std::size_t length = kPage + capacity + kHugePage;
  void* mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(mapping);
  const std::size_t first = kHugePage - (reinterpret_cast<std::size_t>(start) + kPage) % kHugePage;
  char* const data = start + kPage + first % kHugePage;
  // Give back what alignment left over on both sides.
  if (const std::size_t before = first % kHugePage) munmap(start, before);
  if (const std::size_t after = length - kPage - capacity - first % kHugePage) munmap(data + capacity, after);
  madvise(data, capacity, MADV_HUGEPAGE);
  return reinterpret_cast<StorageBlock*>(data) - 1;
}

void unmap_block(StorageBlock* block) {
  ASAN_UNPOISON_MEMORY_REGION(block->data(), block->capacity);
  if (is_mapped(block->capacity))
    munmap(static_cast<char*>(block->data()) - kPage, kPage + block->capacity);
  else
    std::free(block);
}

/// The memory this process can have: the machine's, with swap, or its control group's limit where that is
/// lower. Linux grants more than that and kills the process later, so the allocator refuses first.
std::size_t memory_limit() {
  static const std::size_t limit = [] {
    struct sysinfo machine = {};
    std::size_t bytes = kLargest;
    if (sysinfo(&machine) == 0) bytes = (machine.totalram + machine.totalswap) * machine.mem_unit;
    std::size_t group = 0;
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> group && group > 0) bytes = std::min(bytes, group);
    return bytes;
  }();
  return limit;
}

std::string readable(std::size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", amount, unit);
}

[[noreturn]] void refuse(std::size_t bytes, const MemoryStats& stats) {
  const auto live = static_cast<std::size_t>(stats.live_bytes),
             cached = static_cast<std::size_t>(stats.cached_bytes);
  const std::string reason =
      bytes > memory_limit() ? "this machine has " + readable(memory_limit()) : "the system is out of memory";
  fail_with("storage: cannot allocate {} (live {}, cached {}): {}", readable(bytes), readable(live),
            readable(cached), reason);
}

bool environment_asks_for_poison() {
  const char* value = std::getenv("GRADUS_POISON");
  return value && std::string_view(value) == "1";
}

std::atomic<bool> poison{environment_asks_for_poison()};

/// All bits set: NaN in f32 and f64, -1 in i64. AddressSanitizer then reports any touch of bytes past the
/// first `usable`: beyond the request, or in a freed block.
void protect(StorageBlock* block, [[maybe_unused]] std::size_t usable) {
  ASAN_UNPOISON_MEMORY_REGION(block->data(), block->capacity);
  if (poison.load(std::memory_order_relaxed)) std::memset(block->data(), 0xFF, block->capacity);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block->data()) + usable, block->capacity - usable);
}

// Never destroyed: arrays in static objects and thread-locals may be freed after main. Everything is guarded
// by the lock; system calls are made outside it.
struct Cache {
  SpinLock lock;
  std::array<StorageBlock*, kClasses> free{};
  MemoryStats stats;

  StorageBlock* take(SizeClass wanted);
  StorageBlock* take_new(std::size_t bytes, SizeClass wanted);
  void put(StorageBlock* block);
  void empty();
  void count(std::size_t capacity);
};
constinit Cache cache;

void Cache::count(std::size_t capacity) {
  stats.live_bytes += static_cast<std::int64_t>(capacity);
  stats.peak_bytes = std::max(stats.peak_bytes, stats.live_bytes);
  ++stats.live_blocks;
  ++stats.total_allocations;
}

/// A free block of the class (or, for mapped ones, of one of the next two, up to a quarter larger); null if
/// none.
StorageBlock* Cache::take(SizeClass wanted) {
  const std::lock_guard guard(lock);
  const std::uint32_t last =
      std::min<std::uint32_t>(wanted.index + (is_mapped(wanted.capacity) ? 2 : 0), kClasses - 1);
  for (std::uint32_t index = wanted.index; index <= last; ++index) {
    StorageBlock* const block = free[index];
    if (!block) continue;
    free[index] = block->next_free;
    stats.cached_bytes -= static_cast<std::int64_t>(block->capacity);
    count(block->capacity);
    return block;
  }
  return nullptr;
}

/// A block from the system, whose memory may first have to be returned from the cache.
StorageBlock* Cache::take_new(std::size_t bytes, SizeClass wanted) {
  const MemoryStats before = memory_stats();
  const auto live = static_cast<std::size_t>(before.live_bytes),
             cached = static_cast<std::size_t>(before.cached_bytes);
  const std::size_t limit = memory_limit(), capacity = wanted.capacity;
  StorageBlock* block = nullptr;
  if (capacity + live + cached <= limit) block = map_block(capacity);
  if (!block && cached > 0) empty();
  if (!block && capacity + live <= limit) block = map_block(capacity);
  if (!block) refuse(bytes, before);
  new (block) StorageBlock{};
  block->size_class = wanted.index;
  block->capacity = capacity;
  const std::lock_guard guard(lock);
  ++stats.system_allocations;
  count(capacity);
  return block;
}

void Cache::put(StorageBlock* block) {
  const std::lock_guard guard(lock);
  block->next_free = free[block->size_class];
  free[block->size_class] = block;
  stats.live_bytes -= static_cast<std::int64_t>(block->capacity);
  stats.cached_bytes += static_cast<std::int64_t>(block->capacity);
  --stats.live_blocks;
}

void Cache::empty() {
  std::array<StorageBlock*, kClasses> lists{};
  {
    const std::lock_guard guard(lock);
    std::swap(lists, free);
    stats.cached_bytes = 0;
  }
  for (StorageBlock* block : lists)
    while (block) unmap_block(std::exchange(block, block->next_free));
}

}  // namespace

Storage Storage::allocate(std::size_t bytes) {
  if (bytes > kLargest) [[unlikely]]
    refuse(bytes, memory_stats());
  const SizeClass wanted = size_class(bytes);
  StorageBlock* block = cache.take(wanted);
  if (!block) [[unlikely]]
    block = cache.take_new(bytes, wanted);
  block->references.store(1, std::memory_order_relaxed);
  block->version.store(0, std::memory_order_relaxed);
  block->bytes = bytes;
  protect(block, bytes);
  Storage storage;
  storage.block_ = block;
  return storage;
}

void Storage::release(StorageBlock* block) noexcept {
  protect(block, 0);
  cache.put(block);
}

MemoryStats memory_stats() {
  const std::lock_guard guard(cache.lock);
  return cache.stats;
}

void reset_peak_memory() {
  const std::lock_guard guard(cache.lock);
  cache.stats.peak_bytes = cache.stats.live_bytes;
}

void empty_cache() { cache.empty(); }

void set_memory_poison(bool on) { poison.store(on, std::memory_order_relaxed); }
bool memory_poison() { return poison.load(std::memory_order_relaxed); }

}  // namespace gradus
