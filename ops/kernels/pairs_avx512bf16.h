#pragma once
// Pairs of bf16 and where they go: how AVX512-BF16 rounds and rearranges operands for its own kernel and for
// AMX's. A pair holds two neighbours along k, the first in its lower half. Only for files compiled for
// AVX512-BF16, each with a copy of its own.

#include <immintrin.h>

#include "gradus/ops/kernels/bf16.h"

namespace gradus::kernels {
namespace {

using I = std::int64_t;
using Pair = std::uint32_t;

constexpr I kLanes = 16;

// Masks of all lanes cost nothing: g++ 12 warns about some functions without one, inside its own headers.
constexpr __mmask16 kAll = 0xffff;

/// The first n lanes, of 0 to 16.
inline __mmask16 first(I n) {
  return n >= kLanes ? kAll : n <= 0 ? __mmask16{0} : static_cast<__mmask16>((1u << n) - 1);
}

/// 32 numbers in memory, of which the first n are there, as 16 pairs.
inline __m512i pairs_of(const float* x, I n) {
  const __m512 low = _mm512_maskz_loadu_ps(first(n), x);
  const __m512 high = n > kLanes ? _mm512_maskz_loadu_ps(first(n - kLanes), x + kLanes) : _mm512_setzero_ps();
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

inline __m512i pairs_of(const BFloat16* x, I n) {
  const auto there = n >= 2 * kLanes ? 0xffffffffu : (1u << n) - 1;
  return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(there), x);
}

/// The pairs of two rows, of which the second is there or not, in the first columns of 16.
inline __m512i pairs_across(const float* x, I ld, bool second, __mmask16 columns) {
  const __m512 low = _mm512_maskz_loadu_ps(columns, x);
  const __m512 high = second ? _mm512_maskz_loadu_ps(columns, x + ld) : _mm512_setzero_ps();
  const __m512i in_turn = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,  //
                                           23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_maskz_permutexvar_epi16(~__mmask32{0}, in_turn,
                                        reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

/// Starts reading the cache line of x, which need not exist. Operands come from memory, and the hardware does
/// not foresee rows that lie apart.
inline void fetch(const void* x) { __builtin_prefetch(x); }
/// The same, but only into the second-level cache: rows whose distance is a power of two push each other out
/// of the first.
inline void fetch_far(const void* x) { __builtin_prefetch(x, 0, 2); }
inline void fetch_to_write(const void* x) { __builtin_prefetch(x, 1, 2); }
constexpr I kRowsAhead = 4;

/// x [k, n], rows ld apart, as pairs: that of rows 2p and 2p + 1 in column j goes to place(p, j), 16 columns
/// at a time; what is missing of them and of the last pair is 0.
template <class Place>
void pack_across(I k, I n, const float* x, I ld, Place place) {
  for (I p = 0; 2 * p < k; ++p, x += 2 * ld)
    for (I j = 0; j < n; j += kLanes) {
      fetch(x + kRowsAhead * ld + j);
      fetch(x + (kRowsAhead + 1) * ld + j);
      _mm512_storeu_si512(place(p, j), pairs_across(x + j, ld, 2 * p + 1 < k, first(n - j)));
    }
}

inline __m512i low32(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi32(kAll, a, b); }
inline __m512i high32(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi32(kAll, a, b); }
inline __m512i low64(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi64(0xff, a, b); }
inline __m512i high64(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi64(0xff, a, b); }
/// Of their quarters, the even or the odd ones.
inline __m512i even(__m512i a, __m512i b) { return _mm512_maskz_shuffle_i32x4(kAll, a, b, 0x88); }
inline __m512i odd(__m512i a, __m512i b) { return _mm512_maskz_shuffle_i32x4(kAll, a, b, 0xdd); }

/// 16 x 16 lanes, rows to columns.
inline void transpose(__m512i (&x)[16]) {
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

/// B^T [n, k], rows ld apart, as pairs: that of columns 2p and 2p + 1 in row j goes to place(p, j), 16 rows
/// at a time; what is missing of them and of the last pair is 0.
template <class T, class Place>
void pack_columns(I k, I n, const T* b, I ld, Place place) {
  for (I j = 0; j < n; j += kLanes)
    for (I p = 0; 2 * p < k; p += kLanes) {
      __m512i x[16];
      for (I i = 0; i < kLanes; ++i) {
        fetch(b + (j + i) * ld + 2 * (p + kLanes));
        fetch(b + (j + i) * ld + 2 * (p + kLanes) + kLanes);
        x[i] = j + i < n ? pairs_of(b + (j + i) * ld + 2 * p, k - 2 * p) : _mm512_setzero_si512();
      }
      transpose(x);
      for (I i = 0; i < kLanes && 2 * (p + i) < k; ++i) _mm512_storeu_si512(place(p + i, j), x[i]);
    }
}

/// What a block of sums is added to.
struct Output {
  float* c;
  I ldc;
  float alpha, beta;
  const float* d;
  I ldd;
  const float* bias;
  bool relu;
  bool around_caches = false;  // a large C leaves them to the operands

  /// 16 sums of a row, the columns that are there.
  void write(__m512 sum, I row, I column, __mmask16 there) const {
    __m512 y = _mm512_mul_ps(_mm512_set1_ps(alpha), sum);
    if (beta != 0)
      y = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_maskz_loadu_ps(there, d + row * ldd + column), y);
    if (bias) y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(there, bias + column));
    if (relu) y = _mm512_maskz_max_ps(kAll, _mm512_setzero_ps(), y);  // the second operand where one is NaN
    float* const to = c + row * ldc + column;
    if (around_caches && there == kAll && reinterpret_cast<std::uintptr_t>(to) % 64 == 0)
      _mm512_stream_ps(to, y);
    else
      _mm512_mask_storeu_ps(to, there, y);
  }
  Output at(I row, I column) const {
    Output moved = *this;
    moved.c += row * ldc + column;
    if (beta != 0) moved.d += row * ldd + column;
    if (bias) moved.bias += column;
    return moved;
  }
  /// Of the part of k that begins at p and ends at `end` of x.k.
  static Output of(const Product<float>& x, I p, I end) {
    Output out{x.c, x.ldc, x.alpha, x.beta, x.d, x.ldd, x.bias, x.relu && end == x.k};
    if (p > 0) out.beta = 1, out.d = x.c, out.ldd = x.ldc, out.bias = nullptr;
    return out;
  }
};

}  // namespace
}  // namespace gradus::kernels
