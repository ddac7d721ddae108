// The bf16 product by AVX512-BF16, whose instruction multiplies 16 pairs and adds each to an f32: twice the
// work of an f32 multiply-addition. The blocks are those of body/gemm.h, of pairs instead of numbers: a pair
// holds two neighbours along k, the first in its lower half. Both operands are rounded as they are copied to
// panels, always: A's rows to runs of pairs, B's columns side by side. A weight stored in bf16 is only
// copied.

#include <immintrin.h>

#include <type_traits>

#include "gradus/ops/kernels/pairs_avx512bf16.h"

namespace gradus::kernels {
namespace {

constexpr I kVectors = 4, kWidth = kVectors * kLanes;  // columns of a panel
constexpr I kPairs = kBf16Depth / 2;
constexpr I kRows = 6;          // of a block: with four vectors of columns they fill the registers
constexpr I kRowsOfAAhead = 2;  // fetched from memory
constexpr I kRowsAtATime = 48;  // of A that stay in cache while all panels pass
#ifdef __APPLE__                // whose threads have small stacks
constexpr I kColumnsAtATime = 2 * kWidth;
#else
constexpr I kColumnsAtATime = 8 * kWidth;  // of B: 512 KiB, which stay in the second-level cache
#endif

Pair* in_panels(Pair* panels, I p, I j) {
  return panels + j / kWidth * (kWidth * kPairs) + p * kWidth + j % kWidth;
}

/// A [rows, k] into rows of pairs.
void pack_rows(I k, I rows, const float* a, I ld, Pair* to) {
  for (I i = 0; i < rows; ++i)
    for (I p = 0; 2 * p < k; p += kLanes) {
      fetch(a + (i + kRowsOfAAhead) * ld + 2 * p);
      fetch(a + (i + kRowsOfAAhead) * ld + 2 * p + kLanes);
      _mm512_storeu_si512(to + i * kPairs + p, pairs_of(a + i * ld + 2 * p, k - 2 * p));
    }
}

/// `rows` rows under `vectors` vectors of a panel. A's pair (r, p) lies at r kPairs + p, or with `transposed`
/// at p kRowsAtATime + r.
template <int rows, int vectors, bool transposed>
void block(I pairs, const Pair* a, const Pair* panel, I last_width, const Output& out) {
  for (I r = 0; r < rows; ++r)
    for (I v = 0; v < vectors; ++v)
      _mm_prefetch(reinterpret_cast<const char*>(out.c + r * out.ldc + v * kLanes), _MM_HINT_T0);
  __m512 sums[rows][vectors];
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_setzero_ps();
  for (I p = 0; p < pairs; ++p) {
    __m512bh b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      b[v] = reinterpret_cast<__m512bh>(_mm512_load_si512(panel + p * kWidth + v * kLanes));
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) {
      const auto value = reinterpret_cast<__m512bh>(
          _mm512_set1_epi32(static_cast<int>(a[transposed ? p * kRowsAtATime + r : r * kPairs + p])));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], value, b[v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      out.write(sums[r][v], r, v * kLanes, v + 1 < vectors ? kAll : first(last_width));
}

template <int rows, int vectors, bool transposed>
void last_block(I left, I pairs, const Pair* a, const Pair* panel, I last_width, const Output& out) {
  if constexpr (rows > 0) {
    if (left == rows) return block<rows, vectors, transposed>(pairs, a, panel, last_width, out);
    last_block<rows - 1, vectors, transposed>(left, pairs, a, panel, last_width, out);
  }
}

/// m rows under one panel.
template <int vectors, bool transposed>
void under_panel(I wanted, I m, I pairs, const Pair* a, const Pair* panel, I last_width, const Output& out) {
  if constexpr (vectors > 0) {
    if (wanted != vectors)
      return under_panel<vectors - 1, transposed>(wanted, m, pairs, a, panel, last_width, out);
    I i = 0;
    const auto row = [a](I at) { return a + (transposed ? at : at * kPairs); };
    for (; i + kRows <= m; i += kRows)
      block<kRows, vectors, transposed>(pairs, row(i), panel, last_width, out.at(i, 0));
    last_block<kRows - 1, vectors, transposed>(m - i, pairs, row(i), panel, last_width, out.at(i, 0));
  }
}

/// C += A B for a depth of at most kBf16Depth and kColumnsAtATime columns.
template <bool transposed, class T>
void gemm_packed(I m, I n, I k, const Operand<float>& a, const Operand<T>& b, const Output& out) {
  alignas(64) Pair panels[kColumnsAtATime * kPairs];
  alignas(64) Pair some_a[kRowsAtATime * kPairs];
  const auto place = [&panels](I p, I j) { return in_panels(panels, p, j); };
  if (b.transposed)
    pack_columns(k, n, b.data, b.ld, place);
  else if constexpr (std::is_same_v<T, float>)
    pack_across(k, n, b.data, b.ld, place);
  for (I i = 0; i < m; i += kRowsAtATime) {
    const I rows = m - i < kRowsAtATime ? m - i : kRowsAtATime;
    if (transposed)
      pack_across(k, rows, a.data + i, a.ld, [&some_a](I p, I r) { return some_a + p * kRowsAtATime + r; });
    else
      pack_rows(k, rows, a.data + i * a.ld, a.ld, some_a);
    for (I j = 0; j < n; j += kWidth) {
      const I columns = n - j < kWidth ? n - j : kWidth, vectors = (columns + kLanes - 1) / kLanes;
      under_panel<kVectors, transposed>(vectors, rows, (k + 1) / 2, some_a, in_panels(panels, 0, j),
                                        columns - (vectors - 1) * kLanes, out.at(i, j));
    }
  }
}

template <class T>
void multiply_pairs(const Product<float>& x, const Operand<T>& b) {
  const auto run = x.a.transposed ? gemm_packed<true, T> : gemm_packed<false, T>;
  for (I p = 0; p < x.k; p += kBf16Depth) {
    const I depth = x.k - p < kBf16Depth ? x.k - p : kBf16Depth;
    const Output out = Output::of(x, p, p + depth);
    for (I j = 0; j < x.n; j += kColumnsAtATime)
      run(x.m, x.n - j < kColumnsAtATime ? x.n - j : kColumnsAtATime, depth, x.a.from(0, p), b.from(p, j),
          out.at(0, j));
  }
}

}  // namespace

void gemm_avx512bf16(const Product<float>& x) {
  x.weight ? multiply_pairs(x, Operand<BFloat16>{x.weight, x.b.ld, true}) : multiply_pairs(x, x.b);
}

}  // namespace gradus::kernels
