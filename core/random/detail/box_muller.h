#pragma once
// Normal numbers from random words. Only + - * / sqrt and integers, no math library and no branches: the same
// results on every machine, and vectorizable.

#include <cmath>
#include <numbers>

#include "gradus/core/detail/bits.h"
#include "gradus/core/random/detail/philox.h"

namespace gradus {

/// log u for u in (0, 1]: u = 2^e m with m in [sqrt 1/2, sqrt 2), log m = 2 artanh s, s = (m - 1) / (m + 1).
template <class T>
[[gnu::always_inline]] inline T log_unit(T u) {
  using Signed = std::make_signed_t<Word<T>>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  const auto bits = bit_cast<Signed>(u);
  const Signed e = (bits - bit_cast<Signed>(static_cast<T>(1 / std::numbers::sqrt2))) >> mantissa;
  const T m = bit_cast<T>(static_cast<Signed>(bits - e * (Signed{1} << mantissa)));
  const T s = (m - 1) / (m + 1), s2 = s * s;  // s2 < 0.0295
  constexpr int terms = sizeof(T) == 4 ? 5 : 11;
  T series = 0;
#pragma GCC unroll 16
  for (int k = terms - 1; k >= 0; --k) series = series * s2 + static_cast<T>(2.0 / (2 * k + 1));
  return static_cast<T>(e) * std::numbers::ln2_v<T> + series * s;
}

/// sin and cos of 2 pi word / 2^bits. The quadrant is split off exactly, in integers; the rest is a Taylor
/// series on [-pi/4, pi/4].
template <class T>
[[gnu::always_inline]] inline void sin_cos_turn(Word<T> word, T& sin, T& cos) {
  using Signed = std::make_signed_t<Word<T>>;
  constexpr int quarter = 8 * sizeof(T) - 2;
  const Word<T> quadrant = (word + (Word<T>{1} << (quarter - 1))) >> quarter;  // 0 .. 3
  const auto rest = static_cast<Signed>(word - (quadrant << quarter));
  const T x = static_cast<T>(rest) *
              static_cast<T>(std::numbers::pi / 2 / static_cast<double>(Word<T>{1} << quarter));
  const T x2 = x * x;
  constexpr int terms = sizeof(T) == 4 ? 5 : 8;
  T s = 1, c = 1;  // s = 1 - x2/(2 3) (1 - x2/(4 5) (1 - ...)), c = 1 - x2/(1 2) (1 - x2/(3 4) (1 - ...))
#pragma GCC unroll 16
  for (int k = terms; k > 0; --k) {
    s = 1 - x2 * static_cast<T>(1.0 / (2 * k * (2 * k + 1))) * s;
    c = 1 - x2 * static_cast<T>(1.0 / ((2 * k - 1) * 2 * k)) * c;
  }
  s *= x;
  const bool swap = quadrant & 1;
  const T sin_size = swap ? c : s, cos_size = swap ? s : c;
  sin = quadrant & 2 ? -sin_size : sin_size;
  cos = (quadrant + 1) & 2 ? -cos_size : cos_size;
}

/// Two independent standard normal values (Box and Muller 1958): sqrt(-2 log u) times the cosine and the sine
/// of a random angle, u in (0, 1].
template <class T>
[[gnu::always_inline]] inline void box_muller(Word<T> a, Word<T> b, T& first, T& second) {
  constexpr int bits = 8 * sizeof(T) - 1;
  constexpr T scale = 1 / static_cast<T>(Word<T>{1} << bits);
  const T u = (static_cast<T>(static_cast<std::make_signed_t<Word<T>>>(a >> 1)) + 1) * scale;
  const T radius = std::sqrt(-2 * log_unit(u));
  T sin, cos;
  sin_cos_turn<T>(b, sin, cos);
  first = radius * cos;
  second = radius * sin;
}

}  // namespace gradus
