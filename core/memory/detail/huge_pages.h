#pragma once
// Pages of 2 MiB that smaller blocks share: for systems that have such (platform.h).

#include <cstddef>

namespace gradus {

struct Block;

/// A block cut from a region, which it shares with others; null when there is no memory.
Block* region_allocate(std::size_t capacity);
/// Gives the block's pages back at once, and the region's addresses with its last block.
void region_free(Block* block, std::size_t capacity);

}  // namespace gradus
