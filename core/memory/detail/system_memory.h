#pragma once
// Memory from the operating system for the caching allocator.

#include <cstddef>

namespace gradus {

struct Block;

/// Where the system has huge pages (platform.h), blocks of this size and more are mapped one by one, on huge
/// pages of their own.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// From this size on, blocks share huge pages; smaller ones come from malloc, as small programs need no more.
inline constexpr std::size_t kSharedHugePage = std::size_t{128} << 10;

/// A block with `capacity` bytes (a multiple of 64) behind its header, nothing in it written yet; null when
/// the system has no memory left.
Block* system_allocate(std::size_t capacity);
void system_free(Block* block);

/// The memory this process can have: the machine's, with swap, or its control group's limit where that is
/// lower. Linux grants more than that and kills the process later, so the allocator refuses first.
std::size_t memory_limit();

/// The memory available now without killing another process.
std::size_t memory_available();

}  // namespace gradus
