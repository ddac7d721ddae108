#pragma once
// Copies that turn rows into columns: x.t().contiguous(), axes of attention heads swapped.
//
// Copied value by value, each cache line touched would supply one value, and rows a power of two apart would
// all map to the same few cache sets. So tiles of 16 x 16 values pass through a buffer: each line is read and
// written once, as a whole.

#include <algorithm>
#include <cstring>

#include "gradus/core/array/detail/strided.h"

namespace gradus {

inline constexpr std::int64_t kTransposeTile = 16;

/// y[j][i] = x[i][j] for i < rows, j < columns, both at most kTransposeTile.
template <class T>
void transpose_tile(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t ldx, T* y,
                    std::int64_t ldy) {
  constexpr std::int64_t tile = kTransposeTile;
  if (rows < tile || columns < tile) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i) y[j * ldy + i] = x[i * ldx + j];
    return;
  }
  T square[tile][tile];
  for (std::int64_t i = 0; i < tile; ++i) std::memcpy(square[i], x + i * ldx, sizeof square[i]);
  for (std::int64_t j = 0; j < tile; ++j) {
    T row[tile];
    for (std::int64_t i = 0; i < tile; ++i) row[i] = square[i][j];
    std::memcpy(y + j * ldy, row, sizeof row);
  }
}

/// Copies operand 1 of the loop, x, to operand 0, y, if y's innermost axis is not the one along which x is
/// contiguous. Returns whether it did.
template <class T>
bool copy_transposed(const StridedLoop<2>& loop, const T* x, T* y) {
  using I = std::int64_t;
  constexpr I tile = kTransposeTile, most_columns = kGrain / tile;
  int across = 1;
  while (across < loop.rank() && loop.stride(across, 1) != 1) ++across;
  if (across == loop.rank() || loop.stride(0, 0) != 1) return false;
  const I rows = loop.size(0), columns = loop.size(across);
  const I ldx = loop.stride(0, 1), ldy = loop.stride(across, 0);
  if (ldx < 2 || rows < tile / 2 || columns < tile / 2) return false;

  // One strip: 16 rows of x, or the remaining ones, and at most 1024 columns.
  const I down = (rows - 1) / tile + 1, along = (columns - 1) / most_columns + 1;
  const I matrices = loop.outer() / columns;
  parallel_for(matrices * down * along, kGrain / (tile * std::min(columns, most_columns)),
               [&](I begin, I end) {
                 for (I strip = begin; strip < end; ++strip) {
                   const auto at = loop.offsets_without(across, strip / (down * along));
                   const I i = strip / along % down * tile, first = strip % along * most_columns;
                   const I last = std::min(columns, first + most_columns);
                   for (I j = first; j < last; j += tile)
                     transpose_tile(std::min(tile, rows - i), std::min(tile, last - j),
                                    x + at[1] + i * ldx + j, ldx, y + at[0] + j * ldy + i, ldy);
                 }
               });
  return true;
}

}  // namespace gradus
