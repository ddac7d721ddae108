#include "gradus/core/memory/detail/system_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>

#include "gradus/core/memory/detail/block.h"
#include "gradus/core/memory/detail/huge_pages.h"

namespace gradus {
namespace {

/// The beginning of one of the system's files. By plain calls, which take no memory: there may be none.
std::string_view beginning_of(const char* path, std::span<char> buffer) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, buffer.data(), buffer.size());
  close(file);
  return {buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

/// The number a text begins with, after blanks; without one, as much as anyone could ask for.
std::size_t number_in(std::string_view text) {
  std::size_t number = std::size_t{1} << 62;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// A line of /proc/meminfo, in bytes.
std::size_t meminfo(std::string_view name) {
  char buffer[4096];
  const std::string_view text = beginning_of("/proc/meminfo", buffer);
  const std::size_t line = text.find(name);
  if (line == text.npos) return std::size_t{1} << 61;
  return std::min(number_in(text.substr(line + name.size())), std::size_t{1} << 51) * 1024;
}

}  // namespace

Block* system_allocate(std::size_t capacity) {
  if (capacity >= kHugePage) {
    // The data starts on a huge page; the header is the end of the ordinary page before it.
    char* const data = map_aligned(capacity, kHugePage, kPage);
    return data ? reinterpret_cast<Block*>(data - kBlockHeader) : nullptr;
  }
  const std::size_t bytes = sizeof(Block) + capacity;
  void* const memory =
      capacity >= kSharedHugePage ? region_allocate(capacity) : std::aligned_alloc(alignof(Block), bytes);
  // Every page is touched now, so that no later step takes a page fault for one that was not needed so far.
  for (std::size_t at = 0; memory && at < bytes; at += kPage) static_cast<char*>(memory)[at] = 0;
  if (memory) static_cast<char*>(memory)[bytes - 1] = 0;
  return static_cast<Block*>(memory);
}

void system_free(Block* block, std::size_t capacity) {
  if (capacity >= kHugePage)
    munmap(reinterpret_cast<char*>(block + 1) - kPage, kPage + capacity);
  else if (capacity >= kSharedHugePage)
    region_free(block, capacity);
  else
    std::free(block);
}

std::size_t memory_limit() {
  static constinit std::atomic<std::size_t> known = 0;
  std::size_t limit = known.load(std::memory_order_relaxed);
  if (limit > 0) return limit;
  char buffer[64];
  const std::string_view group = beginning_of("/sys/fs/cgroup/memory.max", buffer);
  limit = std::min(meminfo("MemTotal:") + meminfo("SwapTotal:"), number_in(group));  // "max": no limit
  known.store(limit, std::memory_order_relaxed);
  return limit;
}

std::size_t memory_available() { return meminfo("MemAvailable:") + meminfo("SwapFree:"); }

}  // namespace gradus
