#pragma once
// Part of body.h. A matrix times a vector. Each element of the matrix is used once, so what counts is that
// memory is read from left to right, a few rows side by side.

namespace gradus::kernels {
namespace {

/// The sums of several rows.
template <class V, int rows>
struct RowSums {
  V v[rows];
  RowSums() {
    for (V& sum : v) sum = V(0);
  }
  friend RowSums join(RowSums a, RowSums b) {
    for (int r = 0; r < rows; ++r) a.v[r] = a.v[r] + b.v[r];
    return a;
  }
};

/// y[r] = dot(a[r], x), in dot's order of additions: x is read once for all rows.
template <class V, int rows>
void dot_rows(I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y) {
  const auto sums = accumulate<V, RowSums<V, rows>>(k, [=](RowSums<V, rows> acc, auto at) {
    const V xs = at.load(x);
    for (int r = 0; r < rows; ++r) acc.v[r] = fma(at.load(a + r * lda), xs, acc.v[r]);
    return acc;
  });
  for (int r = 0; r < rows; ++r) y[r] = sum(sums.v[r]);
}

template <class V>
void gemv(I m, I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y) {
  // Two, with four accumulators each, are the most that AVX2 has registers for. Of scalars one: GCC 12 makes
  // vectors of two rows and then leaves out roundings between double and float.
  constexpr int rows = V::lanes == 1 ? 1 : 2;
  I i = 0;
  for (; i + rows <= m; i += rows) dot_rows<V, rows>(k, a + i * lda, lda, x, y + i);
  for (; i < m; ++i) dot_rows<V, 1>(k, a + i * lda, lda, x, y + i);
}

/// y += x[0] a[0] + ... + x[rows - 1] a[rows - 1], or y = when `first`.
template <class V, int rows>
void add_rows(I n, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y, bool first) {
  for_each<V>(n, [=](auto at) {
    V acc = first ? V(0) : at.load(y);
    for (int r = 0; r < rows; ++r) acc = fma(V(x[r]), at.load(a + r * lda), acc);
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
