#pragma once
// Packing of operands into stripes of tiles for AMX: of A a little at a time, so that it can go on while
// tiles are multiplied. Only for files compiled for AMX, each with a copy of its own.

#include <type_traits>

#include "gradus/ops/kernels/tiles_amx.h"

namespace gradus::kernels {
namespace {

constexpr I kRowsAtATime = 2 * kSide;  // of A, which are packed together; or if A is stored transposed,
constexpr I kRowsAcross = 8 * kSide;   // more, for longer runs in memory

/// Packs rows of A into stripes. The rows that a last stripe lacks are left as they are.
struct RowPacking {
  I k;
  Operand<float> a;  // of which `rows` rows are packed
  I stripe;
  Pair* lines;  // if A is transposed: room for 16 lines of kRowsAcross pairs
  I rows = 0;
  Pair* to = nullptr;  // null when all rows are packed
  I p = 0, i = 0, line = 0, credit = 0;

  /// Field by field: copying the struct would stall on stores that were just made.
  void start(const float* data, I rows_there, Pair* place) {
    a.data = data, rows = rows_there, to = place;
    p = i = line = credit = 0;
  }

  /// About n rows of tiles.
  void some(I n) {
    if (a.transposed)  // a call of across() is worth 5 rows: 24 calls make 8 tiles
      for (credit += n; to && credit > 0; credit -= 5) across();
    else
      while (to && n > 0) n = along(n);
  }
  void rest() {
    while (to)
      if (a.transposed)
        across();
      else
        along(k);
  }

  /// At most n parts of a row; returns how many it did not need.
  I along(I n) {
    const float* const from = a.data + i * a.ld;
    Pair* const row = to + i / kSide * stripe + i % kSide * kSide;
    for (; n > 0 && 2 * p < k; --n, p += kSide) {
      fetch_far(from + kRowsAhead * a.ld + 2 * p);
      fetch_far(from + kRowsAhead * a.ld + 2 * p + kSide);
      _mm512_store_si512(row + p * kSide, pairs_of(from + 2 * p, k - 2 * p));
    }
    if (2 * p < k) return n;
    p = 0;
    if (++i == rows) to = nullptr;
    return n;
  }

  /// Two rows of A's memory become a line of pairs; or 16 such lines, transposed, a tile.
  void across() {
    if (line < kSide) {
      const I row = 2 * (p + line);
      const float* const from = a.data + row * a.ld;
      for (I j = 0; j < rows; j += kSide) {
        fetch_far(from + 2 * kSide * a.ld + j);
        fetch_far(from + (2 * kSide + 1) * a.ld + j);
        _mm512_store_si512(
            lines + line * kRowsAcross + j,
            row < k ? pairs_across(from + j, a.ld, row + 1 < k, first(rows - j)) : _mm512_setzero_si512());
      }
      ++line;
      return;
    }
    __m512i x[16];
    for (I q = 0; q < kSide; ++q) x[q] = _mm512_load_si512(lines + q * kRowsAcross + i);
    transpose(x);
    for (I r = 0; r < kSide; ++r) _mm512_store_si512(to + i / kSide * stripe + (p + r) * kSide, x[r]);
    i += kSide;
    if (i < rows) return;
    i = line = 0;
    p += kSide;
    if (2 * p >= k) to = nullptr;
  }
};

/// `columns` columns of B into stripes.
template <class T>
void pack_columns(I k, I columns, const Operand<T>& b, I stripe, Pair* to) {
  const auto place = [=](I p, I j) { return to + j / kSide * stripe + p * kSide; };
  if (b.transposed)
    pack_columns(k, columns, b.data, b.ld, place);
  else if constexpr (std::is_same_v<T, float>)
    pack_across(k, columns, b.data, b.ld, place);
  for (I p = (k + 1) / 2; p % kSide != 0; ++p)
    for (I j = 0; j < columns; j += kSide) _mm512_store_si512(place(p, j), _mm512_setzero_si512());
}

}  // namespace
}  // namespace gradus::kernels
