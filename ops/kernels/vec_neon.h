#pragma once
// Vec<T> over 128-bit registers of 64-bit ARM: 4 floats or 2 doubles. The names are explained in
// vec_scalar.h.

#include <arm_neon.h>
#include <math.h>

#include <cstdint>

namespace gradus::kernels {
namespace {

template <class T>
struct Vec;

struct Mask32 {
  uint32x4_t v;
  friend bool any(Mask32 a) { return vmaxvq_u32(a.v) != 0; }
};
struct Mask64 {
  uint64x2_t v;
  friend bool any(Mask64 a) { return (vgetq_lane_u64(a.v, 0) | vgetq_lane_u64(a.v, 1)) != 0; }
};

template <>
struct Vec<float> {
  using Scalar = float;
  using Mask = Mask32;
  static constexpr std::int64_t lanes = 4, columns = 4, registers = 32;
  float32x4_t v = vdupq_n_f32(0);

  Vec() = default;
  Vec(float32x4_t x) : v(x) {}
  Vec(double s) : v(vdupq_n_f32(static_cast<float>(s))) {}
  static Vec load(const float* p) { return vld1q_f32(p); }
  static Vec load(const float* p, std::int64_t n, double fill = 0) {
    float32x4_t x = Vec(fill).v;
    if (n > 0) x = vld1q_lane_f32(p, x, 0);
    if (n > 1) x = vld1q_lane_f32(p + 1, x, 1);
    if (n > 2) x = vld1q_lane_f32(p + 2, x, 2);
    return x;
  }
  void store(float* p) const { vst1q_f32(p, v); }
  void store(float* p, std::int64_t n) const {
    if (n > 0) vst1q_lane_f32(p, v, 0);
    if (n > 1) vst1q_lane_f32(p + 1, v, 1);
    if (n > 2) vst1q_lane_f32(p + 2, v, 2);
  }
  static void load_columns(const float* p, std::int64_t ld, Vec (&column)[4]) {
    const float32x4_t r0 = vld1q_f32(p), r1 = vld1q_f32(p + ld), r2 = vld1q_f32(p + 2 * ld),
                      r3 = vld1q_f32(p + 3 * ld);
    // Columns 0 and 2, and 1 and 3, of rows 0 and 1, and of rows 2 and 3.
    const float64x2_t even01 = vreinterpretq_f64_f32(vtrn1q_f32(r0, r1)),
                      odd01 = vreinterpretq_f64_f32(vtrn2q_f32(r0, r1)),
                      even23 = vreinterpretq_f64_f32(vtrn1q_f32(r2, r3)),
                      odd23 = vreinterpretq_f64_f32(vtrn2q_f32(r2, r3));
    column[0] = vreinterpretq_f32_f64(vtrn1q_f64(even01, even23));
    column[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd01, odd23));
    column[2] = vreinterpretq_f32_f64(vtrn2q_f64(even01, even23));
    column[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd01, odd23));
  }
  static Vec from_words(const std::uint32_t* w) { return vcvtq_f32_u32(vshrq_n_u32(vld1q_u32(w), 8)); }
  static Mask load_mask(const bool* p) {
    std::uint32_t four;
    __builtin_memcpy(&four, p, 4);
    const uint32x4_t words = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four))));
    return {vtstq_u32(words, words)};
  }
  static Mask load_mask(const bool* p, std::int64_t n) {
    bool all[4] = {};
    for (std::int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_mask(all);
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) {
    const uint16x4_t halves = vmovn_u32(vshrq_n_u32(m.v, 31));
    const std::uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(halves, halves))), 0);
    __builtin_memcpy(p, &four, static_cast<std::size_t>(n));
  }

  friend Vec operator+(Vec a, Vec b) { return vaddq_f32(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return vsubq_f32(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return vmulq_f32(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return vdivq_f32(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {vcltq_f32(a.v, b.v)}; }
  friend Mask operator<=(Vec a, Vec b) { return {vcleq_f32(a.v, b.v)}; }
  friend Mask operator>(Vec a, Vec b) { return {vcgtq_f32(a.v, b.v)}; }
  friend Mask operator>=(Vec a, Vec b) { return {vcgeq_f32(a.v, b.v)}; }
  friend Mask operator==(Vec a, Vec b) { return {vceqq_f32(a.v, b.v)}; }
  friend Mask operator!=(Vec a, Vec b) { return {vmvnq_u32(vceqq_f32(a.v, b.v))}; }
  friend Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c.v, a.v, b.v); }
  // Not vmaxq and vminq, which are NaN where either is.
  friend Vec max(Vec a, Vec b) { return vbslq_f32(vcgtq_f32(a.v, b.v), a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return vbslq_f32(vcltq_f32(a.v, b.v), a.v, b.v); }
  friend Vec sqrt(Vec a) { return vsqrtq_f32(a.v); }
  friend Vec abs(Vec a) { return vabsq_f32(a.v); }
  friend Vec sign_bit(Vec a) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a.v), vdupq_n_u32(0x80000000u)));
  }
  friend Vec flip_sign(Vec a, Vec s) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a.v), vreinterpretq_u32_f32(s.v)));
  }
  friend Vec select(Mask m, Vec a, Vec b) { return vbslq_f32(m.v, a.v, b.v); }
  friend float sum(Vec a) {
    const float32x2_t two = vadd_f32(vget_low_f32(a.v), vget_high_f32(a.v));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }
  friend float max_lane(Vec a) { return vmaxnmvq_f32(a.v); }
  friend float min_lane(Vec a) { return vminnmvq_f32(a.v); }
};

template <>
struct Vec<double> {
  using Scalar = double;
  using Mask = Mask64;
  static constexpr std::int64_t lanes = 2, columns = 2, registers = 32;
  float64x2_t v = vdupq_n_f64(0);

  Vec() = default;
  Vec(float64x2_t x) : v(x) {}
  Vec(double s) : v(vdupq_n_f64(s)) {}
  static Vec load(const double* p) { return vld1q_f64(p); }
  static Vec load(const double* p, std::int64_t n, double fill = 0) {
    const float64x2_t x = Vec(fill).v;
    return n > 0 ? vld1q_lane_f64(p, x, 0) : x;
  }
  void store(double* p) const { vst1q_f64(p, v); }
  void store(double* p, std::int64_t n) const {
    if (n > 0) vst1q_lane_f64(p, v, 0);
  }
  static void load_columns(const double* p, std::int64_t ld, Vec (&column)[2]) {
    const float64x2_t r0 = vld1q_f64(p), r1 = vld1q_f64(p + ld);
    column[0] = vtrn1q_f64(r0, r1);
    column[1] = vtrn2q_f64(r0, r1);
  }
  static Vec from_words(const std::uint32_t* w) {
    return vcvtq_f64_u64(vmovl_u32(vshr_n_u32(vld1_u32(w), 8)));
  }
  static Mask load_mask(const bool* p) { return load_mask(p, lanes); }
  static Mask load_mask(const bool* p, std::int64_t n) {
    std::uint64_t all[2] = {};
    for (std::int64_t i = 0; i < n; ++i) all[i] = p[i] ? ~std::uint64_t{0} : 0;
    return {vld1q_u64(all)};
  }
  static void store_mask(Mask m, bool* p) { store_mask(m, p, lanes); }
  static void store_mask(Mask m, bool* p, std::int64_t n) {
    if (n > 0) p[0] = vgetq_lane_u64(m.v, 0) != 0;
    if (n > 1) p[1] = vgetq_lane_u64(m.v, 1) != 0;
  }

  friend Vec operator+(Vec a, Vec b) { return vaddq_f64(a.v, b.v); }
  friend Vec operator-(Vec a, Vec b) { return vsubq_f64(a.v, b.v); }
  friend Vec operator*(Vec a, Vec b) { return vmulq_f64(a.v, b.v); }
  friend Vec operator/(Vec a, Vec b) { return vdivq_f64(a.v, b.v); }
  friend Mask operator<(Vec a, Vec b) { return {vcltq_f64(a.v, b.v)}; }
  friend Mask operator<=(Vec a, Vec b) { return {vcleq_f64(a.v, b.v)}; }
  friend Mask operator>(Vec a, Vec b) { return {vcgtq_f64(a.v, b.v)}; }
  friend Mask operator>=(Vec a, Vec b) { return {vcgeq_f64(a.v, b.v)}; }
  friend Mask operator==(Vec a, Vec b) { return {vceqq_f64(a.v, b.v)}; }
  friend Mask operator!=(Vec a, Vec b) {
    return {veorq_u64(vceqq_f64(a.v, b.v), vdupq_n_u64(~std::uint64_t{0}))};
  }
  friend Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f64(c.v, a.v, b.v); }
  friend Vec max(Vec a, Vec b) { return vbslq_f64(vcgtq_f64(a.v, b.v), a.v, b.v); }
  friend Vec min(Vec a, Vec b) { return vbslq_f64(vcltq_f64(a.v, b.v), a.v, b.v); }
  friend Vec sqrt(Vec a) { return vsqrtq_f64(a.v); }
  friend Vec abs(Vec a) { return vabsq_f64(a.v); }
  friend Vec sign_bit(Vec a) {
    return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a.v), vdupq_n_u64(std::uint64_t{1} << 63)));
  }
  friend Vec flip_sign(Vec a, Vec s) {
    return vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(a.v), vreinterpretq_u64_f64(s.v)));
  }
  friend Vec select(Mask m, Vec a, Vec b) { return vbslq_f64(m.v, a.v, b.v); }
  friend double sum(Vec a) { return vgetq_lane_f64(a.v, 0) + vgetq_lane_f64(a.v, 1); }
  friend double max_lane(Vec a) { return vmaxnmvq_f64(a.v); }
  friend double min_lane(Vec a) { return vminnmvq_f64(a.v); }
};

inline Vec<float> round(Vec<float> x) { return vrndnq_f32(x.v); }

struct Split {
  Vec<float> m, e;
};
inline Split split(Vec<float> x) {
  const int32x4_t bits = vreinterpretq_s32_f32(x.v);
  const int32x4_t root_half = vreinterpretq_s32_f32(vdupq_n_f32(0.70710678f));
  const int32x4_t e = vshrq_n_s32(vsubq_s32(bits, root_half), 23);
  return {vreinterpretq_f32_s32(vsubq_s32(bits, vshlq_n_s32(e, 23))), vcvtq_f32_s32(e)};
}

inline Vec<float> pow2(int32x4_t n) {
  return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}
inline Vec<float> scale(Vec<float> y, Vec<float> n) {
  const int32x4_t whole = vcvtnq_s32_f32(n.v);
  const int32x4_t half = vshrq_n_s32(whole, 1);
  return y * pow2(half) * pow2(vsubq_s32(whole, half));
}

template <int k>
Mask32 test_bit(Vec<float> n) {
  return {vtstq_s32(vcvtnq_s32_f32(n.v), vdupq_n_s32(1 << k))};
}

struct VecU32 {
  static constexpr std::int64_t lanes = 4;
  uint32x4_t v;
  VecU32(uint32x4_t x) : v(x) {}
  explicit VecU32(std::uint32_t s) : v(vdupq_n_u32(s)) {}
  static VecU32 counting_from(std::uint32_t first) {
    static constexpr std::uint32_t steps[4] = {0, 1, 2, 3};
    return vaddq_u32(vdupq_n_u32(first), vld1q_u32(steps));
  }
  friend VecU32 operator+(VecU32 a, VecU32 b) { return vaddq_u32(a.v, b.v); }
  friend VecU32 operator^(VecU32 a, VecU32 b) { return veorq_u32(a.v, b.v); }
};
struct WideProduct {
  VecU32 high, low;
};
inline WideProduct multiply(VecU32 a, VecU32 b) {
  const uint32x4_t first = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(a.v), vget_low_u32(b.v))),
                   last = vreinterpretq_u32_u64(vmull_high_u32(a.v, b.v));
  return {vuzp2q_u32(first, last), vuzp1q_u32(first, last)};
}
inline void store_interleaved(std::uint32_t* p, VecU32 a, VecU32 b, VecU32 c, VecU32 d) {
  const uint32x4x4_t all = {{a.v, b.v, c.v, d.v}};
  vst4q_u32(p, all);
}

}  // namespace
}  // namespace gradus::kernels
