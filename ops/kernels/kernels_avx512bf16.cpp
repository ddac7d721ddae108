// The bf16 product by AVX512-BF16, whose instruction multiplies 16 pairs and adds each to an f32: twice the
// work of an f32 multiply-addition. The blocks are those of body/gemm.h, of pairs instead of numbers: a pair
// holds two neighbours along k, the first in its lower half. Both operands are rounded as they are copied to
// panels, always: A's rows to runs of pairs, B's columns side by side. A weight stored in bf16 is only
// copied.

#include <immintrin.h>

#include <type_traits>

#include "gradus/ops/kernels/bf16.h"

namespace gradus::kernels {
namespace {

using I = std::int64_t;
using Pair = std::uint32_t;

constexpr I kLanes = 16, kVectors = 4, kWidth = kVectors * kLanes;  // columns of a panel
constexpr I kPairs = kBf16Depth / 2;
constexpr I kRows = 6;          // of a block: with four vectors of columns they fill the registers
constexpr I kRowsAtATime = 48;  // of A that stay in cache while all panels pass
#ifdef __APPLE__                // whose threads have small stacks
constexpr I kColumnsAtATime = 2 * kWidth;
#else
constexpr I kColumnsAtATime = 8 * kWidth;  // of B: 512 KiB, which stay in the second-level cache
#endif

// Masks of all lanes cost nothing: g++ 12 warns about some functions without one, inside its own headers.
constexpr __mmask16 kAll = 0xffff;

/// The first n lanes, of 0 to 16.
__mmask16 first(I n) {
  return n >= kLanes ? kAll : n <= 0 ? __mmask16{0} : static_cast<__mmask16>((1u << n) - 1);
}

/// 16 numbers, rounded, each in the lower half of its lane.
__m512i low_halves(__m512 x) {
  return _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

/// 32 numbers in memory, of which the first n are there, as 16 pairs.
__m512i pairs_of(const float* x, I n) {
  const __m512 low = _mm512_maskz_loadu_ps(first(n), x);
  const __m512 high = n > kLanes ? _mm512_maskz_loadu_ps(first(n - kLanes), x + kLanes) : _mm512_setzero_ps();
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

__m512i pairs_of(const BFloat16* x, I n) {
  const auto there = n >= 2 * kLanes ? 0xffffffffu : (1u << n) - 1;
  return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(there), x);
}

/// x [k, n], rows ld apart, as pairs: that of rows 2p and 2p + 1 in column j goes to place(p, j), 16 columns
/// at a time; what is missing of them and of the last pair is 0.
template <class Place>
void pack_across(I k, I n, const float* x, I ld, Place place) {
  for (I p = 0; 2 * p < k; ++p, x += 2 * ld)
    for (I j = 0; j < n; j += kLanes) {
      const __mmask16 there = first(n - j);
      const __m512i low = low_halves(_mm512_maskz_loadu_ps(there, x + j));
      const __m512i high =
          2 * p + 1 < k ? low_halves(_mm512_maskz_loadu_ps(there, x + ld + j)) : _mm512_setzero_si512();
      _mm512_storeu_si512(place(p, j), _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16)));
    }
}

__m512i low32(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi32(kAll, a, b); }
__m512i high32(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi32(kAll, a, b); }
__m512i low64(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi64(0xff, a, b); }
__m512i high64(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi64(0xff, a, b); }
/// Of their quarters, the even or the odd ones.
__m512i even(__m512i a, __m512i b) { return _mm512_maskz_shuffle_i32x4(kAll, a, b, 0x88); }
__m512i odd(__m512i a, __m512i b) { return _mm512_maskz_shuffle_i32x4(kAll, a, b, 0xdd); }

/// 16 x 16 lanes, rows to columns.
void transpose(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = low32(x[i], x[i + 1]);
    y[i + 1] = high32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // then x[i + c] has, in quarter q, column 4 q + c of rows i .. i + 3
    x[i] = low64(y[i], y[i + 2]);
    x[i + 1] = high64(y[i], y[i + 2]);
    x[i + 2] = low64(y[i + 1], y[i + 3]);
    x[i + 3] = high64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even01 = even(x[c], x[4 + c]), odd01 = odd(x[c], x[4 + c]);
    const __m512i even23 = even(x[8 + c], x[12 + c]), odd23 = odd(x[8 + c], x[12 + c]);
    y[c] = even(even01, even23);
    y[4 + c] = even(odd01, odd23);
    y[8 + c] = odd(even01, even23);
    y[12 + c] = odd(odd01, odd23);
  }
  for (int i = 0; i < 16; ++i) x[i] = y[i];
}

Pair* in_panels(Pair* panels, I p, I j) {
  return panels + j / kWidth * (kWidth * kPairs) + p * kWidth + j % kWidth;
}

/// B^T [n, k] into panels.
template <class T>
void pack_columns(I k, I n, const T* b, I ld, Pair* panels) {
  for (I j = 0; j < n; j += kLanes)
    for (I p = 0; 2 * p < k; p += kLanes) {
      __m512i x[16];
      for (I i = 0; i < kLanes; ++i)
        x[i] = j + i < n ? pairs_of(b + (j + i) * ld + 2 * p, k - 2 * p) : _mm512_setzero_si512();
      transpose(x);
      for (I i = 0; i < kLanes && 2 * (p + i) < k; ++i)
        _mm512_storeu_si512(in_panels(panels, p + i, j), x[i]);
    }
}

/// A [rows, k] into rows of pairs.
void pack_rows(I k, I rows, const float* a, I ld, Pair* to) {
  for (I i = 0; i < rows; ++i)
    for (I p = 0; 2 * p < k; p += kLanes)
      _mm512_storeu_si512(to + i * kPairs + p, pairs_of(a + i * ld + 2 * p, k - 2 * p));
}

/// What a block is added to.
struct Output {
  float* c;
  I ldc;
  float alpha, beta;
  const float* d;
  I ldd;
  const float* bias;
  bool relu;

  void write(__m512 sum, I row, I column, __mmask16 there) const {
    __m512 y = _mm512_mul_ps(_mm512_set1_ps(alpha), sum);
    if (beta != 0)
      y = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_maskz_loadu_ps(there, d + row * ldd + column), y);
    if (bias) y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(there, bias + column));
    if (relu) y = _mm512_maskz_max_ps(kAll, _mm512_setzero_ps(), y);  // the second operand where one is NaN
    _mm512_mask_storeu_ps(c + row * ldc + column, there, y);
  }
  Output at(I row, I column) const {
    Output moved = *this;
    moved.c += row * ldc + column;
    if (beta != 0) moved.d += row * ldd + column;
    if (bias) moved.bias += column;
    return moved;
  }
};

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
  if (b.transposed)
    pack_columns(k, n, b.data, b.ld, panels);
  else if constexpr (std::is_same_v<T, float>)
    pack_across(k, n, b.data, b.ld, [&panels](I p, I j) { return in_panels(panels, p, j); });
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
  Output out{x.c, x.ldc, x.alpha, x.beta, x.d, x.ldd, x.bias, false};
  const auto run = x.a.transposed ? gemm_packed<true, T> : gemm_packed<false, T>;
  for (I p = 0; p < x.k; p += kBf16Depth) {
    const I depth = x.k - p < kBf16Depth ? x.k - p : kBf16Depth;
    out.relu = x.relu && p + depth == x.k;
    for (I j = 0; j < x.n; j += kColumnsAtATime)
      run(x.m, x.n - j < kColumnsAtATime ? x.n - j : kColumnsAtATime, depth, x.a.from(0, p), b.from(p, j),
          out.at(0, j));
    out = {x.c, x.ldc, x.alpha, 1, x.c, x.ldc, nullptr, false};
  }
}

}  // namespace

void gemm_avx512bf16(const Product<float>& x) {
  x.weight ? multiply_pairs(x, Operand<BFloat16>{x.weight, x.b.ld, true}) : multiply_pairs(x, x.b);
}

}  // namespace gradus::kernels
