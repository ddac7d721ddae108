#pragma once
// Pages of 2 MiB that smaller blocks share, on systems that have them (platform.h).

#include <cstddef>

namespace gradus {

struct Block;

/// A block cut from a region, which it shares with others; null when there is no memory.
Block* region_allocate(std::size_t capacity);
/// Returns the block's pages at once, and the region's addresses with its last block.
void region_free(Block* block, std::size_t capacity);

}  // namespace gradus
