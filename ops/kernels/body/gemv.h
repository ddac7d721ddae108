#pragma once
// Part of body.h. A matrix times a vector, or times a few. Each element of the matrix is used once or a few
// times, so the key is to read memory from left to right and prefetch it in time.

namespace gradus::kernels {
namespace {

// The next row is prefetched while one is read: a row ends before the CPU has detected the access pattern.
// Memory prefetched beyond the last row is never read.
template <class V>
void gemv(I m, I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for (I i = 0; i < m; ++i, a += lda)
    y[i] = sum(accumulate<V>(k, [=](V acc, auto at) {
      __builtin_prefetch(a + lda + at.i);
      return madd(at.load(a), at.load(x), acc);
    }));
}

/// y[r ldy + i] = sum_p a[i lda + p] x[r ldx + p] for a few rows of A and vectors x, all sums in registers.
template <class V, int rows, int vectors>
void dot_block(I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, I ldx, ScalarOf<V>* y, I ldy) {
  V sums[rows][vectors];
  for_each<V>(k, [&](auto at) {
    V row[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      row[i] = at.load(a + i * lda);
      __builtin_prefetch(a + (rows + i) * lda + at.i);
    }
#pragma GCC unroll 8
    for (int r = 0; r < vectors; ++r) {
      const V value = at.load(x + r * ldx);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) sums[i][r] = madd(row[i], value, sums[i][r]);
    }
  });
  for (int r = 0; r < vectors; ++r)
    for (int i = 0; i < rows; ++i) y[r * ldy + i] = sum(sums[i][r]);
}

/// The same for any number of vectors, as many at a time as there are registers.
template <class V, int rows, int vectors = V::registers == 32 ? 8 : 4>
void dot_blocks(I k, const ScalarOf<V>* a, I lda, I count, const ScalarOf<V>* x, I ldx, ScalarOf<V>* y,
                I ldy) {
  for (; count >= vectors; count -= vectors, x += vectors * ldx, y += vectors * ldy)
    dot_block<V, rows, vectors>(k, a, lda, x, ldx, y, ldy);
  if constexpr (vectors > 1)
    if (count > 0) dot_blocks<V, rows, vectors - 1>(k, a, lda, count, x, ldx, y, ldy);
}

/// A is read once, three rows at a time, for a few vectors.
template <class V>
void gemv_few(I m, I k, const ScalarOf<V>* a, I lda, I count, const ScalarOf<V>* x, I ldx, ScalarOf<V>* y,
              I ldy) {
  constexpr int rows = 3;
  I i = 0;
  for (; i + rows <= m; i += rows) dot_blocks<V, rows>(k, a + i * lda, lda, count, x, ldx, y + i, ldy);
  for (; i < m; ++i) dot_blocks<V, 1>(k, a + i * lda, lda, count, x, ldx, y + i, ldy);
}

/// y += x[0] a[0] + ... + x[rows - 1] a[rows - 1], or y = when `first`.
template <class V, int rows>
void add_rows(I n, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y, bool first) {
  for_each<V>(n, [=](auto at) {
    V acc = first ? V(0) : at.load(y);
    for (int r = 0; r < rows; ++r) acc = madd(V(x[r]), at.load(a + r * lda), acc);
    at.store(y, acc);
  });
}

// Eight rows at a time are read side by side, each from left to right as memory likes it; y is cut into
// pieces that stay in the first-level cache while all rows pass. Long columns are summed in blocks, so that
// the error grows with their number and the size of one, not with their product.
template <class V>
void gemv_t(I m, I n, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y) {
  constexpr I piece = 2048, block = 256;
  ScalarOf<V> sums[piece];
  for (I j = 0; j < n; j += piece) {
    const I width = n - j < piece ? n - j : piece;
    if (m == 0) for_each<V>(width, [=](auto at) { at.store(y + j, V(0)); });
    for (I begin = 0; begin < m; begin += block) {
      const I end = m - begin < block ? m : begin + block;
      ScalarOf<V>* const to = begin == 0 ? y + j : sums;
      I i = begin;
      for (; i + 8 <= end; i += 8) add_rows<V, 8>(width, a + i * lda + j, lda, x + i, to, i == begin);
      for (; i < end; ++i) add_rows<V, 1>(width, a + i * lda + j, lda, x + i, to, i == begin);
      if (begin > 0) for_each<V>(width, [=](auto at) { at.store(y + j, at.load(y + j) + at.load(to)); });
    }
  }
}

}  // namespace
}  // namespace gradus::kernels
