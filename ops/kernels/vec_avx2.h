#pragma once
// Vec<T> over 256-bit registers: 8 floats or 4 doubles. The names are explained in vec_scalar.h.

#include <immintrin.h>
#include <math.h>

#include <cstdint>

namespace gradus::kernels {
namespace {

template <class T>
struct Vec;

// The first n lanes on: a window into ones followed by zeros.
inline __m256i first_lanes_32(std::int64_t n) {
  alignas(32) static constexpr std::int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window + 8 - n));
}
inline __m256i first_lanes_64(std::int64_t n) {
  alignas(32) static constexpr std::int64_t window[8] = {-1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window + 4 - n));
}

// Eight bools and eight bits: byte k is bit k.
inline void store_bools(int bits, bool* p, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = (bits >> i) & 1;
}

struct Mask32 {
  __m256 v;
  friend bool any(Mask32 a) { return _mm256_movemask_ps(a.v) != 0; }
};
struct Mask64 {
  __m256d v;
  friend bool any(Mask64 a) { return _mm256_movemask_pd(a.v) != 0; }
};

template <>
struct Vec<float> {
  using Scalar = float;
  using Mask = Mask32;
  static constexpr std::int64_t lanes = 8, columns = 4, registers = 16;
  __m256 v = _mm256_setzero_ps();

  Vec() = default;
  Vec(__m256 x) : v(x) {}
  Vec(double s) : v(_mm256_set1_ps(static_cast<float>(s))) {}
  static Vec load(const float* p) { return _mm256_loadu_ps(p); }
  static Vec load(const float* p, std::int64_t n, double fill = 0) {
    const __m256i on = first_lanes_32(n);
    return _mm256_blendv_ps(Vec(fill).v, _mm256_maskload_ps(p, on), _mm256_castsi256_ps(on));
  }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store(float* p, std::int64_t n) const { _mm256_maskstore_ps(p, first_lanes_32(n), v); }
  static void load_columns(const float* p, std::int64_t ld, Vec (&column)[4]) {
    // Half h of r[j] is a piece of row 4 h + j: transposing 4 x 4 in each half gives the columns.
    __m256 r[4];
    for (int j = 0; j < 4; ++j) {
      const float* const row = p + j * ld;
      r[j] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)), _mm_loadu_ps(row + 4 * ld), 1);
    }
    const __m256d low01 = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1])),
                  high01 = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1])),
                  low23 = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3])),
                  high23 = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    column[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(low01, low23));
    column[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low01, low23));
    column[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high01, high23));
    column[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high01, high23));
  }
  static Vec from_words(const std::uint32_t* w) {
    return _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)), 8));
  }
  static Mask load_mask(const bool* p) {
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(bytes, _mm256_setzero_si256()))};
  }
  static Mask load_mask(const bool* p, std::int64_t n) {
    bool all[8] = {};
    for (std::int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_mask(all);
  }
  static void store_mask(Mask m, bool* p) {
    const __m256i ones = _mm256_srli_epi32(_mm256_castps_si256(m.v), 31);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(ones), _mm256_extracti128_si256(ones, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
  }
  static void store_mask(Mask m, bool* p, std::int64_t n) { store_bools(_mm256_movemask_ps(m.v), p, n); }

  friend Vec operator+(Vec a, Vec b) { return _mm256_add_ps(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return _mm256_sub_ps(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return _mm256_mul_ps(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return _mm256_div_ps(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
  friend Mask operator<=(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
  friend Mask operator>(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)}; }
  friend Mask operator>=(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)}; }
  friend Mask operator==(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
  friend Mask operator!=(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_NEQ_UQ)}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
  friend Vec max(Vec a, Vec b) { return _mm256_max_ps(a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return _mm256_min_ps(a.v, b.v); }
  friend Vec sqrt(Vec a) { return _mm256_sqrt_ps(a.v); }
  friend Vec abs(Vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v); }
  friend Vec sign_bit(Vec a) { return _mm256_and_ps(_mm256_set1_ps(-0.0f), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return _mm256_xor_ps(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return _mm256_blendv_ps(b.v, a.v, m.v); }
  friend float sum(Vec a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  friend float max_lane(Vec a) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  friend float min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }
};

template <>
struct Vec<double> {
  using Scalar = double;
  using Mask = Mask64;
  static constexpr std::int64_t lanes = 4, columns = 2, registers = 16;
  __m256d v = _mm256_setzero_pd();

  Vec() = default;
  Vec(__m256d x) : v(x) {}
  Vec(double s) : v(_mm256_set1_pd(s)) {}
  static Vec load(const double* p) { return _mm256_loadu_pd(p); }
  static Vec load(const double* p, std::int64_t n, double fill = 0) {
    const __m256i on = first_lanes_64(n);
    return _mm256_blendv_pd(Vec(fill).v, _mm256_maskload_pd(p, on), _mm256_castsi256_pd(on));
  }
  void store(double* p) const { _mm256_storeu_pd(p, v); }
  void store(double* p, std::int64_t n) const { _mm256_maskstore_pd(p, first_lanes_64(n), v); }
  static void load_columns(const double* p, std::int64_t ld, Vec (&column)[2]) {
    // Half h of r[j] is a piece of row 2 h + j.
    __m256d r[2];
    for (int j = 0; j < 2; ++j) {
      const double* const row = p + j * ld;
      r[j] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row)), _mm_loadu_pd(row + 2 * ld), 1);
    }
    column[0] = _mm256_unpacklo_pd(r[0], r[1]);
    column[1] = _mm256_unpackhi_pd(r[0], r[1]);
  }
  static Vec from_words(const std::uint32_t* w) {
    return _mm256_cvtepi32_pd(_mm_srli_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)), 8));
  }
  static Mask load_mask(const bool* p) { return load_mask(p, lanes); }
  static Mask load_mask(const bool* p, std::int64_t n) {
    alignas(32) std::int64_t all[4] = {};
    for (std::int64_t i = 0; i < n; ++i) all[i] = p[i] ? -1 : 0;
    return {_mm256_castsi256_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(all)))};
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) { store_bools(_mm256_movemask_pd(m.v), p, n); }

  friend Vec operator+(Vec a, Vec b) { return _mm256_add_pd(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return _mm256_sub_pd(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return _mm256_mul_pd(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return _mm256_div_pd(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)}; }
  friend Mask operator<=(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LE_OQ)}; }
  friend Mask operator>(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)}; }
  friend Mask operator>=(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GE_OQ)}; }
  friend Mask operator==(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_EQ_OQ)}; }
  friend Mask operator!=(Vec a, Vec b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_NEQ_UQ)}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a.v, b.v, c.v); }
  friend Vec max(Vec a, Vec b) { return _mm256_max_pd(a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return _mm256_min_pd(a.v, b.v); }
  friend Vec sqrt(Vec a) { return _mm256_sqrt_pd(a.v); }
  friend Vec abs(Vec a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v); }
  friend Vec sign_bit(Vec a) { return _mm256_and_pd(_mm256_set1_pd(-0.0), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return _mm256_xor_pd(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return _mm256_blendv_pd(b.v, a.v, m.v); }
  friend double sum(Vec a) {
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  friend double max_lane(Vec a) {
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
  friend double min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }
};

inline Vec<float> round(Vec<float> x) {
  return _mm256_round_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

struct Split {
  Vec<float> m, e;
};
inline Split split(Vec<float> x) {
  const __m256i bits = _mm256_castps_si256(x.v);
  const __m256i root_half = _mm256_castps_si256(_mm256_set1_ps(0.70710678f));
  const __m256i e = _mm256_srai_epi32(_mm256_sub_epi32(bits, root_half), 23);
  return {_mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(e, 23))), _mm256_cvtepi32_ps(e)};
}

inline Vec<float> pow2(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
inline Vec<float> scale(Vec<float> y, Vec<float> n) {
  const __m256i whole = _mm256_cvtps_epi32(n.v);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  return y * pow2(half) * pow2(_mm256_sub_epi32(whole, half));
}

template <int k>
Mask32 test_bit(Vec<float> n) {
  const __m256i at_sign = _mm256_slli_epi32(_mm256_cvtps_epi32(n.v), 31 - k);
  return {_mm256_castsi256_ps(_mm256_srai_epi32(at_sign, 31))};
}

struct VecU32 {
  static constexpr std::int64_t lanes = 8;
  __m256i v;
  VecU32(__m256i x) : v(x) {}
  explicit VecU32(std::uint32_t s) : v(_mm256_set1_epi32(static_cast<int>(s))) {}
  static VecU32 counting_from(std::uint32_t first) {
    return _mm256_add_epi32(VecU32(first).v, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  friend VecU32 operator+(VecU32 a, VecU32 b) { return _mm256_add_epi32(a.v, b.v); }
  friend VecU32 operator^(VecU32 a, VecU32 b) { return _mm256_xor_si256(a.v, b.v); }
};
struct WideProduct {
  VecU32 high, low;
};
inline WideProduct multiply(VecU32 a, VecU32 b) {
  const __m256i even = _mm256_mul_epu32(a.v, b.v);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), b.v);
  return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
          _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}
inline void store_interleaved(std::uint32_t* p, VecU32 a, VecU32 b, VecU32 c, VecU32 d) {
  const __m256i ab_low = _mm256_unpacklo_epi32(a.v, b.v), ab_high = _mm256_unpackhi_epi32(a.v, b.v);
  const __m256i cd_low = _mm256_unpacklo_epi32(c.v, d.v), cd_high = _mm256_unpackhi_epi32(c.v, d.v);
  // rowK: a b c d of lanes K and K + 4, one in each half.
  const __m256i row0 = _mm256_unpacklo_epi64(ab_low, cd_low), row1 = _mm256_unpackhi_epi64(ab_low, cd_low);
  const __m256i row2 = _mm256_unpacklo_epi64(ab_high, cd_high),
                row3 = _mm256_unpackhi_epi64(ab_high, cd_high);
  __m256i* to = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(row0, row1, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(row2, row3, 0x20));
  _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(row0, row1, 0x31));
  _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(row2, row3, 0x31));
}

}  // namespace
}  // namespace gradus::kernels
