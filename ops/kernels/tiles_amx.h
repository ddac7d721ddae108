#pragma once
// Tiles of AMX: their registers, and blocks of up to four tiles of C. Only for files compiled for AMX, each
// with a copy of its own.

#include "gradus/ops/kernels/pairs_avx512bf16.h"

namespace gradus::kernels {
namespace {

constexpr I kSide = 16, kTile = kSide * kSide;  // rows, and pairs, of a tile
constexpr I kTileBytes = kTile * I{sizeof(Pair)}, kRowBytes = kSide * I{sizeof(Pair)};

/// What the instructions know of their eight tiles: they are full ones.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Shapes kShapes;

/// Tiles along k, in one stripe or several. All distances in bytes.
struct Stripes {
  const void* data;
  I stripe;                                 // from one to the next
  I row = kRowBytes, along_k = kTileBytes;  // from a tile's row, and from a tile, to the next

  const char* at(I i) const { return static_cast<const char*>(data) + i * stripe; }
};

/// g++ 12 does not know that tiles are read from memory and written to it.
inline void memory_barrier() { asm volatile("" ::: "memory"); }

// Blocks of C: one stripe of A times 1 to 4 of B, in registers 0, 1, 2, ...; or two times 1 or 2, in 0, 1 and
// 2, 3.

template <int rows, int columns>
void start_block() {
  _tile_zero(0);
  if constexpr (columns > 1) _tile_zero(1);
  if constexpr (columns > 2 || rows > 1) _tile_zero(2);
  if constexpr (columns > 3 || (rows > 1 && columns > 1)) _tile_zero(3);
}

// Load a tile of B; the intrinsics take the number of a register as a literal only. `past_cache` leaves the
// tile out of the first-level cache, so that A stays there.

template <bool past_cache>
void load_6(const char* from, I row) {
  if constexpr (past_cache)
    _tile_stream_loadd(6, from, row);
  else
    _tile_loadd(6, from, row);
}

template <bool past_cache>
void load_7(const char* from, I row) {
  if constexpr (past_cache)
    _tile_stream_loadd(7, from, row);
  else
    _tile_loadd(7, from, row);
}

/// `meanwhile` is called at each step, for other work that the core can do while it multiplies tiles.
template <int rows, int columns, bool past_cache, class Meanwhile>
void add_to_block(I steps, const Stripes& a, const Stripes& b, const Meanwhile& meanwhile) {
  memory_barrier();
  for (I s = 0; s < steps; ++s) {
    const I at_a = s * a.along_k, at_b = s * b.along_k;
    _tile_loadd(4, a.at(0) + at_a, a.row);
    if constexpr (rows > 1) _tile_loadd(5, a.at(1) + at_a, a.row);
    load_6<past_cache>(b.at(0) + at_b, b.row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (rows > 1) _tile_dpbf16ps(2, 5, 6);
    if constexpr (columns > 1) {
      load_7<past_cache>(b.at(1) + at_b, b.row);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (rows > 1) _tile_dpbf16ps(3, 5, 7);
    }
    if constexpr (columns > 2) {
      load_6<past_cache>(b.at(2) + at_b, b.row);
      _tile_dpbf16ps(2, 4, 6);
    }
    if constexpr (columns > 3) {
      load_7<past_cache>(b.at(3) + at_b, b.row);
      _tile_dpbf16ps(3, 4, 7);
    }
    meanwhile();
  }
}

/// Tiles, one after the other.
struct alignas(64) Sums {
  float tiles[4][kTile];
};

template <int rows, int columns>
void store_block(Sums& sums) {
  _tile_stored(0, sums.tiles[0], kRowBytes);
  if constexpr (columns > 1) _tile_stored(1, sums.tiles[1], kRowBytes);
  if constexpr (columns > 2 || rows > 1) _tile_stored(2, sums.tiles[2], kRowBytes);
  if constexpr (columns > 3 || (rows > 1 && columns > 1)) _tile_stored(3, sums.tiles[3], kRowBytes);
  memory_barrier();
}

}  // namespace
}  // namespace gradus::kernels
