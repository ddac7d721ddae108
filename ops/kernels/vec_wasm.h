#pragma once
// Vec<T> over WebAssembly's 128-bit vectors: 4 floats or 2 doubles. The names are explained in vec_scalar.h.
//
// There is no fused multiply-add. fma of floats goes by way of doubles, as in vec_scalar.h, and so gives the
// same bits; madd, of which products are made, is a product and a sum.

#include <math.h>
#include <wasm_simd128.h>

#include <cstdint>

namespace gradus::kernels {
namespace {

template <class T>
struct Vec;

// Lanes as bools, one after the other.
inline void store_bools(std::uint32_t bits, bool* p, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = (bits >> i) & 1;
}

struct Mask32 {
  v128_t v;
  friend bool any(Mask32 a) { return wasm_v128_any_true(a.v); }
};
struct Mask64 {
  v128_t v;
  friend bool any(Mask64 a) { return wasm_v128_any_true(a.v); }
};

template <>
struct Vec<float> {
  using Scalar = float;
  using Mask = Mask32;
  static constexpr std::int64_t lanes = 4, columns = 4, registers = 16;
  v128_t v = wasm_f32x4_const_splat(0);

  Vec() = default;
  Vec(v128_t x) : v(x) {}
  Vec(double s) : v(wasm_f32x4_splat(static_cast<float>(s))) {}
  static Vec load(const float* p) { return wasm_v128_load(p); }
  static Vec load(const float* p, std::int64_t n, double fill = 0) {
    v128_t x = Vec(fill).v;
    if (n > 0) x = wasm_v128_load32_lane(p, x, 0);
    if (n > 1) x = wasm_v128_load32_lane(p + 1, x, 1);
    if (n > 2) x = wasm_v128_load32_lane(p + 2, x, 2);
    return x;
  }
  void store(float* p) const { wasm_v128_store(p, v); }
  void store(float* p, std::int64_t n) const {
    if (n > 0) wasm_v128_store32_lane(p, v, 0);
    if (n > 1) wasm_v128_store32_lane(p + 1, v, 1);
    if (n > 2) wasm_v128_store32_lane(p + 2, v, 2);
  }
  static void load_columns(const float* p, std::int64_t ld, Vec (&column)[4]) {
    const v128_t r0 = wasm_v128_load(p), r1 = wasm_v128_load(p + ld);
    const v128_t r2 = wasm_v128_load(p + 2 * ld), r3 = wasm_v128_load(p + 3 * ld);
    const v128_t low01 = wasm_i32x4_shuffle(r0, r1, 0, 4, 1, 5),
                 high01 = wasm_i32x4_shuffle(r0, r1, 2, 6, 3, 7),
                 low23 = wasm_i32x4_shuffle(r2, r3, 0, 4, 1, 5),
                 high23 = wasm_i32x4_shuffle(r2, r3, 2, 6, 3, 7);
    column[0] = wasm_i64x2_shuffle(low01, low23, 0, 2);
    column[1] = wasm_i64x2_shuffle(low01, low23, 1, 3);
    column[2] = wasm_i64x2_shuffle(high01, high23, 0, 2);
    column[3] = wasm_i64x2_shuffle(high01, high23, 1, 3);
  }
  static Vec from_words(const std::uint32_t* w) {
    return wasm_f32x4_convert_i32x4(wasm_u32x4_shr(wasm_v128_load(w), 8));
  }
  static Mask load_mask(const bool* p) {
    const v128_t words = wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p)));
    return {wasm_i32x4_ne(words, wasm_i32x4_const_splat(0))};
  }
  static Mask load_mask(const bool* p, std::int64_t n) {
    bool all[4] = {};
    for (std::int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_mask(all);
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) { store_bools(wasm_i32x4_bitmask(m.v), p, n); }

  friend Vec operator+(Vec a, Vec b) { return wasm_f32x4_add(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return wasm_f32x4_sub(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return wasm_f32x4_mul(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return wasm_f32x4_div(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {wasm_f32x4_lt(a.v, b.v)}; }
  friend Mask operator<=(Vec a, Vec b) { return {wasm_f32x4_le(a.v, b.v)}; }
  friend Mask operator>(Vec a, Vec b) { return {wasm_f32x4_gt(a.v, b.v)}; }
  friend Mask operator>=(Vec a, Vec b) { return {wasm_f32x4_ge(a.v, b.v)}; }
  friend Mask operator==(Vec a, Vec b) { return {wasm_f32x4_eq(a.v, b.v)}; }
  friend Mask operator!=(Vec a, Vec b) { return {wasm_f32x4_ne(a.v, b.v)}; }
  friend Vec fma(Vec a, Vec b, Vec c) {
    const auto low = [](Vec x) { return wasm_f64x2_promote_low_f32x4(x.v); };
    const auto high = [](Vec x) { return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x.v, x.v, 1, 1)); };
    const v128_t first = wasm_f64x2_add(wasm_f64x2_mul(low(a), low(b)), low(c));
    const v128_t last = wasm_f64x2_add(wasm_f64x2_mul(high(a), high(b)), high(c));
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(first), wasm_f32x4_demote_f64x2_zero(last), 0, 2);
  }
  friend Vec madd(Vec a, Vec b, Vec c) { return a * b + c; }
  friend Vec max(Vec a, Vec b) { return wasm_f32x4_pmax(b.v, a.v); }
  friend Vec min(Vec a, Vec b) { return wasm_f32x4_pmin(b.v, a.v); }
  friend Vec sqrt(Vec a) { return wasm_f32x4_sqrt(a.v); }
  friend Vec abs(Vec a) { return wasm_f32x4_abs(a.v); }
  friend Vec sign_bit(Vec a) { return wasm_v128_and(wasm_f32x4_const_splat(-0.0f), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return wasm_v128_xor(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return wasm_v128_bitselect(a.v, b.v, m.v); }
  friend float sum(Vec a) {
    const v128_t two = wasm_f32x4_add(a.v, wasm_i64x2_shuffle(a.v, a.v, 1, 1));
    return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
  }
  friend float max_lane(Vec a) {
    const Vec two = max(a, Vec(wasm_i64x2_shuffle(a.v, a.v, 1, 1)));
    return wasm_f32x4_extract_lane(max(two, Vec(wasm_i32x4_shuffle(two.v, two.v, 1, 1, 1, 1))).v, 0);
  }
  friend float min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }
};

template <>
struct Vec<double> {
  using Scalar = double;
  using Mask = Mask64;
  static constexpr std::int64_t lanes = 2, columns = 2, registers = 16;
  v128_t v = wasm_f64x2_const_splat(0);

  Vec() = default;
  Vec(v128_t x) : v(x) {}
  Vec(double s) : v(wasm_f64x2_splat(s)) {}
  static Vec load(const double* p) { return wasm_v128_load(p); }
  static Vec load(const double* p, std::int64_t n, double fill = 0) {
    return n > 0 ? wasm_v128_load64_lane(p, Vec(fill).v, 0) : Vec(fill).v;
  }
  void store(double* p) const { wasm_v128_store(p, v); }
  void store(double* p, std::int64_t n) const {
    if (n > 0) wasm_v128_store64_lane(p, v, 0);
  }
  static void load_columns(const double* p, std::int64_t ld, Vec (&column)[2]) {
    const v128_t r0 = wasm_v128_load(p), r1 = wasm_v128_load(p + ld);
    column[0] = wasm_i64x2_shuffle(r0, r1, 0, 2);
    column[1] = wasm_i64x2_shuffle(r0, r1, 1, 3);
  }
  static Vec from_words(const std::uint32_t* w) {
    return wasm_f64x2_convert_low_u32x4(wasm_u32x4_shr(wasm_v128_load64_zero(w), 8));
  }
  static Mask load_mask(const bool* p) { return load_mask(p, lanes); }
  static Mask load_mask(const bool* p, std::int64_t n) {
    return {wasm_i64x2_make(n > 0 && p[0] ? -1 : 0, n > 1 && p[1] ? -1 : 0)};
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) { store_bools(wasm_i64x2_bitmask(m.v), p, n); }

  friend Vec operator+(Vec a, Vec b) { return wasm_f64x2_add(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return wasm_f64x2_sub(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return wasm_f64x2_mul(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return wasm_f64x2_div(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {wasm_f64x2_lt(a.v, b.v)}; }
  friend Mask operator<=(Vec a, Vec b) { return {wasm_f64x2_le(a.v, b.v)}; }
  friend Mask operator>(Vec a, Vec b) { return {wasm_f64x2_gt(a.v, b.v)}; }
  friend Mask operator>=(Vec a, Vec b) { return {wasm_f64x2_ge(a.v, b.v)}; }
  friend Mask operator==(Vec a, Vec b) { return {wasm_f64x2_eq(a.v, b.v)}; }
  friend Mask operator!=(Vec a, Vec b) { return {wasm_f64x2_ne(a.v, b.v)}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
  friend Vec max(Vec a, Vec b) { return wasm_f64x2_pmax(b.v, a.v); }
  friend Vec min(Vec a, Vec b) { return wasm_f64x2_pmin(b.v, a.v); }
  friend Vec sqrt(Vec a) { return wasm_f64x2_sqrt(a.v); }
  friend Vec abs(Vec a) { return wasm_f64x2_abs(a.v); }
  friend Vec sign_bit(Vec a) { return wasm_v128_and(wasm_f64x2_const_splat(-0.0), a.v); }
  friend Vec flip_sign(Vec a, Vec s) { return wasm_v128_xor(a.v, s.v); }
  friend Vec select(Mask m, Vec a, Vec b) { return wasm_v128_bitselect(a.v, b.v, m.v); }
  friend double sum(Vec a) { return wasm_f64x2_extract_lane(a.v, 0) + wasm_f64x2_extract_lane(a.v, 1); }
  friend double max_lane(Vec a) {
    return wasm_f64x2_extract_lane(max(a, Vec(wasm_i64x2_shuffle(a.v, a.v, 1, 1))).v, 0);
  }
  friend double min_lane(Vec a) { return -max_lane(flip_sign(a, Vec(-0.0))); }
};

inline Vec<float> round(Vec<float> x) { return wasm_f32x4_nearest(x.v); }

// As integers, by the low bits: see vec_scalar.h.
inline v128_t whole(Vec<float> n) {
  const v128_t magic = wasm_f32x4_const_splat(12582912.0f);
  return wasm_i32x4_sub(wasm_f32x4_add(n.v, magic), magic);
}

struct Split {
  Vec<float> m, e;
};
inline Split split(Vec<float> x) {
  const v128_t e = wasm_i32x4_shr(wasm_i32x4_sub(x.v, wasm_f32x4_const_splat(0.70710678f)), 23);
  return {wasm_i32x4_sub(x.v, wasm_i32x4_shl(e, 23)), wasm_f32x4_convert_i32x4(e)};
}

inline Vec<float> pow2(v128_t n) {
  return wasm_i32x4_shl(wasm_i32x4_add(n, wasm_i32x4_const_splat(127)), 23);
}
inline Vec<float> scale(Vec<float> y, Vec<float> n) {
  const v128_t all = whole(n), half = wasm_i32x4_shr(all, 1);
  return y * pow2(half) * pow2(wasm_i32x4_sub(all, half));
}

template <int k>
Mask32 test_bit(Vec<float> n) {
  return {wasm_i32x4_shr(wasm_i32x4_shl(whole(n), 31 - k), 31)};
}

struct VecU32 {
  static constexpr std::int64_t lanes = 4;
  v128_t v;
  VecU32(v128_t x) : v(x) {}
  explicit VecU32(std::uint32_t s) : v(wasm_i32x4_splat(static_cast<std::int32_t>(s))) {}
  static VecU32 counting_from(std::uint32_t first) {
    return wasm_i32x4_add(VecU32(first).v, wasm_i32x4_const(0, 1, 2, 3));
  }
  friend VecU32 operator+(VecU32 a, VecU32 b) { return wasm_i32x4_add(a.v, b.v); }
  friend VecU32 operator^(VecU32 a, VecU32 b) { return wasm_v128_xor(a.v, b.v); }
};
struct WideProduct {
  VecU32 high, low;
};
inline WideProduct multiply(VecU32 a, VecU32 b) {
  const v128_t first = wasm_u64x2_extmul_low_u32x4(a.v, b.v), last = wasm_u64x2_extmul_high_u32x4(a.v, b.v);
  return {wasm_i32x4_shuffle(first, last, 1, 3, 5, 7), wasm_i32x4_shuffle(first, last, 0, 2, 4, 6)};
}
inline void store_interleaved(std::uint32_t* p, VecU32 a, VecU32 b, VecU32 c, VecU32 d) {
  const v128_t ab_low = wasm_i32x4_shuffle(a.v, b.v, 0, 4, 1, 5),
               ab_high = wasm_i32x4_shuffle(a.v, b.v, 2, 6, 3, 7);
  const v128_t cd_low = wasm_i32x4_shuffle(c.v, d.v, 0, 4, 1, 5),
               cd_high = wasm_i32x4_shuffle(c.v, d.v, 2, 6, 3, 7);
  wasm_v128_store(p, wasm_i64x2_shuffle(ab_low, cd_low, 0, 2));
  wasm_v128_store(p + 4, wasm_i64x2_shuffle(ab_low, cd_low, 1, 3));
  wasm_v128_store(p + 8, wasm_i64x2_shuffle(ab_high, cd_high, 0, 2));
  wasm_v128_store(p + 12, wasm_i64x2_shuffle(ab_high, cd_high, 1, 3));
}

}  // namespace
}  // namespace gradus::kernels
