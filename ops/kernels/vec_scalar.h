#pragma once
// Vec<T> with one lane: plain C++, for CPUs without the others. It also documents the interface of Vec;
// vec_neon.h, vec_avx2.h and vec_avx512.h offer the same names over registers of 128, 256 and 512 bits.
//
//   Vec<T>::lanes             how many values it holds
//   Vec(s)                    s in every lane
//   load(p), load(p, n, fill) all lanes, or n < lanes of them and `fill` in the rest; store(p), store(p, n)
//   + - * /, fma(a, b, c)     fma is a b + c rounded once (here for double: twice)
//   madd(a, b, c)             fma where the CPU has it, else a b + c rounded twice (body/loops.h)
//   max(a, b), min(a, b)      `a > b ? a : b`, so b where either is NaN
//   < <= > >= == !=           give a Mask; any(m); select(m, a, b) is a where m, else b
//   sign_bit, flip_sign       the sign as a mask of bits, and a number with that mask xored in: keeps -0
//   sum, max_lane, min_lane   across lanes
//   registers                 how many of them the CPU has
//   load_columns(p, ld, c)    c[i] holds column i of `lanes` rows that lie ld apart, for i < columns: a piece
//                             of a matrix transposed
//   from_words(w)             the upper 24 bits of 32-bit words, as numbers: exact
//   split, round, scale, test_bit   float only, for log, exp and sin: see below
//
// Everything in these files sits in an anonymous namespace. An inline function compiled with AVX flags and
// merged by the linker with the same function from another file would crash older CPUs, so nothing here may
// have external linkage, and nothing inline from the standard library may be called (std::max, std::bit_cast,
// ...).

#include <math.h>

#include <cstdint>

namespace gradus::kernels {
namespace {

template <class T>
struct Vec {
  using Scalar = T;
  using Mask = bool;
  static constexpr std::int64_t lanes = 1, columns = 1, registers = 16;
  T v = 0;

  Vec() = default;
  Vec(double s) : v(static_cast<T>(s)) {}
  static Vec load(const T* p) { return *p; }
  static Vec load(const T* p, std::int64_t n, double fill = 0) { return n > 0 ? *p : fill; }
  void store(T* p) const { *p = v; }
  void store(T* p, std::int64_t n) const {
    if (n > 0) *p = v;
  }
  static void load_columns(const T* p, std::int64_t, Vec (&column)[1]) { column[0] = *p; }
  static Vec from_words(const std::uint32_t* w) { return static_cast<T>(*w >> 8); }
  static Mask load_mask(const bool* p) { return *p; }
  static Mask load_mask(const bool* p, std::int64_t n) { return n > 0 && *p; }
  static void store_mask(Mask m, bool* p) { *p = m; }
  static void store_mask(Mask m, bool* p, std::int64_t n) {
    if (n > 0) *p = m;
  }

  friend Vec operator+(Vec a, Vec b) { return a.v + b.v; }
  friend Vec operator-(Vec a, Vec b) { return a.v - b.v; }
  friend Vec operator*(Vec a, Vec b) { return a.v * b.v; }
  friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  friend Mask operator<(Vec a, Vec b) { return a.v < b.v; }
  friend Mask operator<=(Vec a, Vec b) { return a.v <= b.v; }
  friend Mask operator>(Vec a, Vec b) { return a.v > b.v; }
  friend Mask operator>=(Vec a, Vec b) { return a.v >= b.v; }
  friend Mask operator==(Vec a, Vec b) { return a.v == b.v; }
  friend Mask operator!=(Vec a, Vec b) { return a.v != b.v; }
  friend Vec max(Vec a, Vec b) { return a.v > b.v ? a : b; }
  friend Vec min(Vec a, Vec b) { return a.v < b.v ? a : b; }
  friend Vec select(Mask m, Vec a, Vec b) { return m ? a : b; }
  friend T sum(Vec a) { return a.v; }
  friend T max_lane(Vec a) { return a.v; }
  friend T min_lane(Vec a) { return a.v; }
};

inline bool any(bool m) { return m; }

// In double, a float product is exact and its sum with a float nearly so: one rounding that counts.
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return static_cast<double>(a.v) * b.v + c.v;
}
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return a.v * b.v + c.v; }
inline Vec<float> sqrt(Vec<float> a) { return __builtin_sqrtf(a.v); }
inline Vec<double> sqrt(Vec<double> a) { return __builtin_sqrt(a.v); }
inline Vec<float> abs(Vec<float> a) { return __builtin_fabsf(a.v); }
inline Vec<double> abs(Vec<double> a) { return __builtin_fabs(a.v); }
inline Vec<float> sign_bit(Vec<float> a) { return __builtin_copysignf(0.0f, a.v); }
inline Vec<double> sign_bit(Vec<double> a) { return __builtin_copysign(0.0, a.v); }
inline Vec<float> flip_sign(Vec<float> a, Vec<float> s) { return __builtin_signbit(s.v) ? -a.v : a.v; }
inline Vec<double> flip_sign(Vec<double> a, Vec<double> s) { return __builtin_signbit(s.v) ? -a.v : a.v; }

inline std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

// To the nearest whole number, ties to even, and that as an integer, for |x| < 2^22; other x are safe. At 1.5
// 2^23 a float has no bits left for a fraction, and the whole number is in its low bits.
constexpr float magic = 12582912.0f;
inline Vec<float> round(Vec<float> x) { return (x.v + magic) - magic; }
inline std::int32_t whole(Vec<float> n) {
  return static_cast<std::int32_t>(bits_of(n.v + magic) - bits_of(magic));
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x.
struct Split {
  Vec<float> m, e;
};
inline Split split(Vec<float> x) {
  const std::int32_t e = static_cast<std::int32_t>(bits_of(x.v) - bits_of(0.70710678f)) >> 23;
  return {float_of(bits_of(x.v) - (static_cast<std::uint32_t>(e) << 23)), static_cast<double>(e)};
}

// 2^n for whole n in [-126, 127].
inline Vec<float> pow2(std::int32_t n) { return float_of((static_cast<std::uint32_t>(n) + 127) << 23); }

// y 2^n for whole n in [-252, 254], as ldexp has it: in two steps, so that a rounding into the denormals
// comes last.
inline Vec<float> scale(Vec<float> y, Vec<float> n) {
  const std::int32_t half = whole(n) >> 1;
  return y * pow2(half) * pow2(whole(n) - half);
}

// Is bit k of the whole number n set?
template <int k>
bool test_bit(Vec<float> n) {
  return (whole(n) >> k) & 1;
}

// Several 32-bit words, for the random generator. high and low are the halves of the 64-bit product.
struct VecU32 {
  static constexpr std::int64_t lanes = 1;
  std::uint32_t v;
  explicit VecU32(std::uint32_t s) : v(s) {}
  static VecU32 counting_from(std::uint32_t first) { return VecU32(first); }  // first, first + 1, ...
  friend VecU32 operator+(VecU32 a, VecU32 b) { return VecU32(a.v + b.v); }
  friend VecU32 operator^(VecU32 a, VecU32 b) { return VecU32(a.v ^ b.v); }
};
struct WideProduct {
  VecU32 high, low;
};
inline WideProduct multiply(VecU32 a, VecU32 b) {
  const std::uint64_t p = static_cast<std::uint64_t>(a.v) * b.v;
  return {VecU32(static_cast<std::uint32_t>(p >> 32)), VecU32(static_cast<std::uint32_t>(p))};
}
// p receives a0 b0 c0 d0 a1 b1 c1 d1 ...
inline void store_interleaved(std::uint32_t* p, VecU32 a, VecU32 b, VecU32 c, VecU32 d) {
  p[0] = a.v, p[1] = b.v, p[2] = c.v, p[3] = d.v;
}

}  // namespace
}  // namespace gradus::kernels
