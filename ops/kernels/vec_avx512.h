#pragma once
// Vec<T> over 512-bit registers: 16 floats or 8 doubles. The names are explained in vec_scalar.h. A mask is a
// bit per lane in a register of its own. Some intrinsics are used in their masked form with a full mask: it
// is the same instruction, and g++ 12 warns that the plain form reads an uninitialised value.

#include <immintrin.h>
#include <math.h>

#include <cstdint>

namespace gradus::kernels {
namespace {

template <class T>
struct Vec;

template <class Bits>
struct Mask {
  Bits v;
  friend bool any(Mask a) { return a.v != 0; }
};
using Mask16 = Mask<__mmask16>;
using Mask8 = Mask<__mmask8>;

inline __mmask16 first_lanes_16(std::int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline __mmask8 first_lanes_8(std::int64_t n) { return static_cast<__mmask8>((1u << n) - 1); }

template <>
struct Vec<float> {
  using Scalar = float;
  using Mask = Mask16;
  static constexpr std::int64_t lanes = 16, columns = 4, registers = 32;
  __m512 v = _mm512_setzero_ps();

  Vec() = default;
  Vec(__m512 x) : v(x) {}
  Vec(double s) : v(_mm512_set1_ps(static_cast<float>(s))) {}
  static Vec load(const float* p) { return _mm512_loadu_ps(p); }
  static Vec load(const float* p, std::int64_t n, double fill = 0) {
    return _mm512_mask_loadu_ps(Vec(fill).v, first_lanes_16(n), p);
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store(float* p, std::int64_t n) const { _mm512_mask_storeu_ps(p, first_lanes_16(n), v); }
  static void load_columns(const float* p, std::int64_t ld, Vec (&column)[4]) {
    // Quarter q of r[j] is a piece of row 4 q + j: transposing 4 x 4 in each quarter gives the columns.
    __m512 r[4];
    for (int j = 0; j < 4; ++j) {
      const float* const row = p + j * ld;
      r[j] = _mm512_castps128_ps512(_mm_loadu_ps(row));
      r[j] = _mm512_maskz_insertf32x4(0xFFFF, r[j], _mm_loadu_ps(row + 4 * ld), 1);
      r[j] = _mm512_maskz_insertf32x4(0xFFFF, r[j], _mm_loadu_ps(row + 8 * ld), 2);
      r[j] = _mm512_maskz_insertf32x4(0xFFFF, r[j], _mm_loadu_ps(row + 12 * ld), 3);
    }
    const __m512d low01 = pairs(_mm512_maskz_unpacklo_ps(0xFFFF, r[0], r[1])),
                  high01 = pairs(_mm512_maskz_unpackhi_ps(0xFFFF, r[0], r[1])),
                  low23 = pairs(_mm512_maskz_unpacklo_ps(0xFFFF, r[2], r[3])),
                  high23 = pairs(_mm512_maskz_unpackhi_ps(0xFFFF, r[2], r[3]));
    column[0] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xFF, low01, low23));
    column[1] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xFF, low01, low23));
    column[2] = _mm512_castpd_ps(_mm512_maskz_unpacklo_pd(0xFF, high01, high23));
    column[3] = _mm512_castpd_ps(_mm512_maskz_unpackhi_pd(0xFF, high01, high23));
  }
  static Vec from_words(const std::uint32_t* w) {
    return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_srli_epi32(0xFFFF, _mm512_loadu_si512(w), 8));
  }
  static Mask load_mask(const bool* p) { return load_mask(p, lanes); }
  static Mask load_mask(const bool* p, std::int64_t n) {
    const __m128i bytes = _mm_maskz_loadu_epi8(first_lanes_16(n), p);
    return {_mm_test_epi8_mask(bytes, bytes)};
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) {
    _mm_mask_storeu_epi8(p, first_lanes_16(n), _mm_maskz_set1_epi8(m.v, 1));
  }

  friend Vec operator+(Vec a, Vec b) { return _mm512_add_ps(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return _mm512_sub_ps(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return _mm512_mul_ps(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return _mm512_div_ps(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
  friend Mask operator<=(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
  friend Mask operator>(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
  friend Mask operator>=(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
  friend Mask operator==(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
  friend Mask operator!=(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
  friend Vec max(Vec a, Vec b) { return _mm512_maskz_max_ps(0xFFFF, a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return _mm512_maskz_min_ps(0xFFFF, a.v, b.v); }
  friend Vec sqrt(Vec a) { return _mm512_maskz_sqrt_ps(0xFFFF, a.v); }
  friend Vec abs(Vec a) { return _mm512_maskz_andnot_ps(0xFFFF, _mm512_set1_ps(-0.0f), a.v); }
  friend Vec sign_bit(Vec a) { return _mm512_and_ps(_mm512_set1_ps(-0.0f), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return _mm512_xor_ps(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return _mm512_mask_blend_ps(m.v, b.v, a.v); }
  friend float sum(Vec a) {
    const __m256 eight = _mm256_add_ps(lower(a.v), upper(a.v));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  friend float max_lane(Vec a) {
    const __m256 eight = _mm256_max_ps(lower(a.v), upper(a.v));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  friend float min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }

 private:
  static __m512d pairs(__m512 x) { return _mm512_castps_pd(x); }
  static __m256 lower(__m512 x) { return _mm512_maskz_extractf32x8_ps(0xFF, x, 0); }
  static __m256 upper(__m512 x) { return _mm512_maskz_extractf32x8_ps(0xFF, x, 1); }
};

template <>
struct Vec<double> {
  using Scalar = double;
  using Mask = Mask8;
  static constexpr std::int64_t lanes = 8, columns = 2, registers = 32;
  __m512d v = _mm512_setzero_pd();

  Vec() = default;
  Vec(__m512d x) : v(x) {}
  Vec(double s) : v(_mm512_set1_pd(s)) {}
  static Vec load(const double* p) { return _mm512_loadu_pd(p); }
  static Vec load(const double* p, std::int64_t n, double fill = 0) {
    return _mm512_mask_loadu_pd(Vec(fill).v, first_lanes_8(n), p);
  }
  void store(double* p) const { _mm512_storeu_pd(p, v); }
  void store(double* p, std::int64_t n) const { _mm512_mask_storeu_pd(p, first_lanes_8(n), v); }
  static void load_columns(const double* p, std::int64_t ld, Vec (&column)[2]) {
    // Quarter q of r[j] is a piece of row 2 q + j.
    __m512d r[2];
    for (int j = 0; j < 2; ++j) {
      const double* const row = p + j * ld;
      r[j] = _mm512_castpd128_pd512(_mm_loadu_pd(row));
      r[j] = _mm512_maskz_insertf64x2(0xFF, r[j], _mm_loadu_pd(row + 2 * ld), 1);
      r[j] = _mm512_maskz_insertf64x2(0xFF, r[j], _mm_loadu_pd(row + 4 * ld), 2);
      r[j] = _mm512_maskz_insertf64x2(0xFF, r[j], _mm_loadu_pd(row + 6 * ld), 3);
    }
    column[0] = _mm512_maskz_unpacklo_pd(0xFF, r[0], r[1]);
    column[1] = _mm512_maskz_unpackhi_pd(0xFF, r[0], r[1]);
  }
  static Vec from_words(const std::uint32_t* w) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
    return _mm512_maskz_cvtepi32_pd(0xFF, _mm256_srli_epi32(words, 8));
  }
  static Mask load_mask(const bool* p) { return load_mask(p, lanes); }
  static Mask load_mask(const bool* p, std::int64_t n) {
    const __m128i bytes = _mm_maskz_loadu_epi8(first_lanes_8(n), p);
    return {static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes))};
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) {
    _mm_mask_storeu_epi8(p, first_lanes_8(n), _mm_maskz_set1_epi8(m.v, 1));
  }

  friend Vec operator+(Vec a, Vec b) { return _mm512_add_pd(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return _mm512_sub_pd(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return _mm512_mul_pd(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return _mm512_div_pd(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)}; }
  friend Mask operator<=(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LE_OQ)}; }
  friend Mask operator>(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ)}; }
  friend Mask operator>=(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GE_OQ)}; }
  friend Mask operator==(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_EQ_OQ)}; }
  friend Mask operator!=(Vec a, Vec b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a.v, b.v, c.v); }
  friend Vec max(Vec a, Vec b) { return _mm512_maskz_max_pd(0xFF, a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return _mm512_maskz_min_pd(0xFF, a.v, b.v); }
  friend Vec sqrt(Vec a) { return _mm512_maskz_sqrt_pd(0xFF, a.v); }
  friend Vec abs(Vec a) { return _mm512_maskz_andnot_pd(0xFF, _mm512_set1_pd(-0.0), a.v); }
  friend Vec sign_bit(Vec a) { return _mm512_and_pd(_mm512_set1_pd(-0.0), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return _mm512_xor_pd(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return _mm512_mask_blend_pd(m.v, b.v, a.v); }
  friend double sum(Vec a) {
    const __m256d four = _mm256_add_pd(lower(a.v), upper(a.v));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  friend double max_lane(Vec a) {
    const __m256d four = _mm256_max_pd(lower(a.v), upper(a.v));
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
  friend double min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }

 private:
  static __m256d lower(__m512d x) { return _mm512_maskz_extractf64x4_pd(0xF, x, 0); }
  static __m256d upper(__m512d x) { return _mm512_maskz_extractf64x4_pd(0xF, x, 1); }
};

inline Vec<float> round(Vec<float> x) {
  return _mm512_maskz_roundscale_ps(0xFFFF, x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

struct Split {
  Vec<float> m, e;
};
inline Split split(Vec<float> x) {
  const __m512i bits = _mm512_castps_si512(x.v);
  const __m512i root_half = _mm512_castps_si512(_mm512_set1_ps(0.70710678f));
  const __m512i e = _mm512_maskz_srai_epi32(0xFFFF, _mm512_sub_epi32(bits, root_half), 23);
  const __m512i m = _mm512_sub_epi32(bits, _mm512_maskz_slli_epi32(0xFFFF, e, 23));
  return {_mm512_castsi512_ps(m), _mm512_maskz_cvtepi32_ps(0xFFFF, e)};
}

inline Vec<float> scale(Vec<float> y, Vec<float> n) { return _mm512_maskz_scalef_ps(0xFFFF, y.v, n.v); }

template <int k>
Mask16 test_bit(Vec<float> n) {
  return {_mm512_test_epi32_mask(_mm512_maskz_cvtps_epi32(0xFFFF, n.v), _mm512_set1_epi32(1 << k))};
}

struct VecU32 {
  static constexpr std::int64_t lanes = 16;
  __m512i v;
  VecU32(__m512i x) : v(x) {}
  explicit VecU32(std::uint32_t s) : v(_mm512_set1_epi32(static_cast<int>(s))) {}
  static VecU32 counting_from(std::uint32_t first) {
    return _mm512_add_epi32(VecU32(first).v,
                            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  friend VecU32 operator+(VecU32 a, VecU32 b) { return _mm512_add_epi32(a.v, b.v); }
  friend VecU32 operator^(VecU32 a, VecU32 b) { return _mm512_xor_si512(a.v, b.v); }
};
struct WideProduct {
  VecU32 high, low;
};
inline WideProduct multiply(VecU32 a, VecU32 b) {
  const __m512i even = _mm512_maskz_mul_epu32(0xFF, a.v, b.v);
  const __m512i odd = _mm512_maskz_mul_epu32(0xFF, _mm512_maskz_srli_epi64(0xFF, a.v, 32), b.v);
  return {_mm512_mask_blend_epi32(0xAAAA, _mm512_maskz_srli_epi64(0xFF, even, 32), odd),
          _mm512_mask_blend_epi32(0xAAAA, even, _mm512_maskz_slli_epi64(0xFF, odd, 32))};
}

inline __m512i low_words(VecU32 a, VecU32 b) { return _mm512_maskz_unpacklo_epi32(0xFFFF, a.v, b.v); }
inline __m512i high_words(VecU32 a, VecU32 b) { return _mm512_maskz_unpackhi_epi32(0xFFFF, a.v, b.v); }
inline __m512i low_pairs(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi64(0xFF, a, b); }
inline __m512i high_pairs(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi64(0xFF, a, b); }
// Two quarters of a, then two of b.
template <int quarters>
__m512i shuffle_quarters(__m512i a, __m512i b) {
  return _mm512_maskz_shuffle_i32x4(0xFFFF, a, b, quarters);
}
inline void store_interleaved(std::uint32_t* p, VecU32 a, VecU32 b, VecU32 c, VecU32 d) {
  // rowK: a b c d of lanes K, K + 4, K + 8 and K + 12, one in each quarter.
  const __m512i row0 = low_pairs(low_words(a, b), low_words(c, d)),
                row1 = high_pairs(low_words(a, b), low_words(c, d));
  const __m512i row2 = low_pairs(high_words(a, b), high_words(c, d)),
                row3 = high_pairs(high_words(a, b), high_words(c, d));
  // Quarters of rows 0 and 1, of rows 2 and 3: 0 and 1 of each, 2 and 3 of each.
  const __m512i first01 = shuffle_quarters<0x44>(row0, row1), last01 = shuffle_quarters<0xEE>(row0, row1);
  const __m512i first23 = shuffle_quarters<0x44>(row2, row3), last23 = shuffle_quarters<0xEE>(row2, row3);
  _mm512_storeu_si512(p, shuffle_quarters<0x88>(first01, first23));
  _mm512_storeu_si512(p + 16, shuffle_quarters<0xDD>(first01, first23));
  _mm512_storeu_si512(p + 32, shuffle_quarters<0x88>(last01, last23));
  _mm512_storeu_si512(p + 48, shuffle_quarters<0xDD>(last01, last23));
}

}  // namespace
}  // namespace gradus::kernels
