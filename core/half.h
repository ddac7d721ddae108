#pragma once
// Numbers of 16 bits, for storage: rounded from a float, read as a float, and nothing else. Both round to the
// nearest, ties to the even one; what is too large becomes infinity, and a NaN stays one, with its sign.

#include <cstdint>
#include <type_traits>

#include "gradus/core/cxx20.h"

namespace gradus {

/// The upper half of a float: 1 bit of sign, 8 of exponent, 7 of fraction. A float's range, 2 to 3 digits.
struct BFloat16 {
  std::uint16_t bits = 0;  ///< As they are stored: sign, exponent, fraction.

  BFloat16() = default;
  /// By way of float, as all that is larger.
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr explicit BFloat16(T value) : bits(rounded(static_cast<float>(value))) {}
  constexpr explicit operator float() const { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto u = __builtin_bit_cast(std::uint32_t, value);
    // Half of the last place, less a little where the number below is even; a carry raises the exponent.
    const std::uint32_t number = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return static_cast<std::uint16_t>(value != value ? (u >> 16) | 0x40u : number);
  }
};

/// IEEE 754's binary16: 1 bit of sign, 5 of exponent, 10 of fraction. Up to 65504, 3 to 4 digits.
struct Float16 {
  std::uint16_t bits = 0;  ///< As they are stored: sign, exponent, fraction.

  Float16() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr explicit Float16(T value) : bits(rounded(static_cast<float>(value))) {}
  constexpr explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
    const std::uint32_t exponent = bits & 0x7c00u;
    if (exponent == 0x7c00u) return __builtin_bit_cast(float, sign | 0x7f800000u | rest);  // infinity, NaN
    if (exponent != 0) return __builtin_bit_cast(float, sign | (rest + ((127u - 15u) << 23)));
    // Subnormal, fraction 2^-24: as 2^-14 (1 + fraction / 1024) - 2^-14, which is exact.
    const float value =
        __builtin_bit_cast(float, rest + (113u << 23)) - __builtin_bit_cast(float, 113u << 23);
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(std::uint32_t, value));
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto u = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t sign = (u >> 16) & 0x8000u, size = u & 0x7fffffffu;
    std::uint32_t number;
    if (size > 0x7f800000u)  // NaN
      number = 0x7e00u | ((size >> 13) & 0x1ffu);
    else if (size >= (127u + 16u) << 23)  // 65536 and more
      number = 0x7c00u;
    else if (size < 113u << 23)  // below 2^-14: in steps of 2^-24, which the last place of 0.5 is
      number = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, size) + 0.5f) -
               __builtin_bit_cast(std::uint32_t, 0.5f);
    else
      number = (size - ((127u - 15u) << 23) + 0xfffu + ((size >> 13) & 1u)) >> 13;
    return static_cast<std::uint16_t>(sign | number);
  }
};

/// Whether T is one of the two.
template <class T>
inline constexpr bool kHalf = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

namespace detail {
/// An element as a number to compute with.
template <class T>
constexpr auto number(T value) {
  if constexpr (kHalf<T>)
    return static_cast<float>(value);
  else
    return value;
}
}  // namespace detail

}  // namespace gradus
