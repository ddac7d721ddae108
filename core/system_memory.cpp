#include "gradus/core/system_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "gradus/core/huge_pages.h"
#include "gradus/core/storage.h"

namespace gradus {
namespace {

/// A line of /proc/meminfo, in bytes; without such a line, as much as anyone could ask for.
std::size_t meminfo(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  std::string word, unit;
  for (std::size_t kibibytes = 0; file >> word >> kibibytes && std::getline(file, unit);)
    if (word == name) return kibibytes * 1024;
  return std::size_t{1} << 62;
}

}  // namespace

StorageBlock* system_allocate(std::size_t capacity) {
  if (capacity >= kHugePage) {
    // The data starts on a huge page; the header is the end of the ordinary page before it.
    char* const data = map_aligned(capacity, kHugePage, kPage);
    return data ? reinterpret_cast<StorageBlock*>(data) - 1 : nullptr;
  }
  const std::size_t bytes = sizeof(StorageBlock) + capacity;
  void* const memory = capacity >= kSharedHugePage ? region_allocate(capacity)
                                                   : std::aligned_alloc(alignof(StorageBlock), bytes);
  // Every page is touched now, so that no later step takes a page fault for one that was not needed so far.
  for (std::size_t at = 0; memory && at < bytes; at += kPage) static_cast<char*>(memory)[at] = 0;
  if (memory) static_cast<char*>(memory)[bytes - 1] = 0;
  return static_cast<StorageBlock*>(memory);
}

void system_free(StorageBlock* block, std::size_t capacity) {
  if (capacity >= kHugePage)
    munmap(reinterpret_cast<char*>(block + 1) - kPage, kPage + capacity);
  else if (capacity >= kSharedHugePage)
    region_free(block, capacity);
  else
    std::free(block);
}

std::size_t memory_limit() {
  static const std::size_t limit = [] {
    std::size_t bytes = meminfo("MemTotal:") + meminfo("SwapTotal:");
    std::size_t group = 0;  // the file says "max" where there is no limit
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> group) bytes = std::min(bytes, group);
    return bytes;
  }();
  return limit;
}

std::size_t memory_available() { return meminfo("MemAvailable:") + meminfo("SwapFree:"); }

}  // namespace gradus
