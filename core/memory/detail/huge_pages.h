#pragma once
// Memory on pages of 2 MiB, whole or shared by smaller blocks.

#include <cstddef>

namespace gradus {

struct Block;

inline constexpr std::size_t kPage = 4096;

/// `bytes` at a multiple of `alignment`, with `lead` bytes of ordinary pages before; null when there is no
/// memory.
char* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t lead);

/// A block cut from a region, which it shares with others; null when there is no memory.
Block* region_allocate(std::size_t capacity);
/// Gives the block's pages back at once, and the region's addresses with its last block.
void region_free(Block* block, std::size_t capacity);

}  // namespace gradus
