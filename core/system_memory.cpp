#include "gradus/core/system_memory.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "gradus/core/storage.h"

namespace gradus {
namespace {

constexpr std::size_t kPage = 4096;

// A mapped block's data starts on a huge page; its header is the end of the ordinary page before it.
StorageBlock* map(std::size_t capacity) {
  const std::size_t length = kHugePage + kPage + capacity;  // room to move the start
  void* const mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping);
  const std::size_t past_boundary = (reinterpret_cast<std::size_t>(first) + kPage) % kHugePage;
  const std::size_t before = past_boundary == 0 ? 0 : kHugePage - past_boundary, after = kHugePage - before;
  char* const data = first + before + kPage;
  if (before > 0) munmap(first, before);
  munmap(data + capacity, after);
  madvise(data, capacity, MADV_HUGEPAGE);  // a wish: where it is not granted, ordinary pages do
  return reinterpret_cast<StorageBlock*>(data) - 1;
}

}  // namespace

StorageBlock* system_allocate(std::size_t capacity) {
  if (capacity >= kHugePage) return map(capacity);
  return static_cast<StorageBlock*>(
      std::aligned_alloc(alignof(StorageBlock), sizeof(StorageBlock) + capacity));
}

void system_free(StorageBlock* block, std::size_t capacity) {
  if (capacity >= kHugePage)
    munmap(reinterpret_cast<char*>(block + 1) - kPage, kPage + capacity);
  else
    std::free(block);
}

std::size_t memory_limit() {
  static const std::size_t limit = [] {
    struct sysinfo machine = {};
    sysinfo(&machine);
    std::size_t bytes = (machine.totalram + machine.totalswap) * machine.mem_unit;
    std::size_t group = 0;  // the file says "max" where there is no limit
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> group) bytes = std::min(bytes, group);
    return bytes;
  }();
  return limit;
}

}  // namespace gradus
