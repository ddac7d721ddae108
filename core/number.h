#pragma once
// Numeric arguments, kept as the caller wrote them until an op knows the type it needs. C++ would silently
// turn 1.5 into an axis, an axis into `true` and 2^53 + 1 into 2^53; these three types preserve or reject
// such values.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "gradus/core/cxx20.h"
#include "gradus/core/half.h"

namespace gradus {

/// What tensors are made from and read into: float, double, bool and the integer types, not characters.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, bool> ||
    std::same_as<T, signed char> || std::same_as<T, unsigned char> || std::same_as<T, short> ||
    std::same_as<T, unsigned short> || std::same_as<T, int> || std::same_as<T, unsigned> ||
    std::same_as<T, long> || std::same_as<T, unsigned long> || std::same_as<T, long long> ||
    std::same_as<T, unsigned long long>;

/// The types tensors store unchanged.
template <class T>
concept Stored = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t> ||
    std::same_as<T, bool> || kHalf<T>;

/// A number combined with a tensor, such as the 2 in `x * 2`: an integer keeps all its bits.
class Scalar {
 public:
  enum class Kind : std::uint8_t { floating, integer, logical };  // the type it was made from

  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) : floating_(0) {
    if constexpr (std::is_integral_v<T>) {
      // The upper half of the unsigned range exceeds i64: rejected where an i64 is needed.
      if (std::is_unsigned_v<T> && static_cast<std::uint64_t>(value) > std::uint64_t{INT64_MAX}) {
        floating_ = static_cast<double>(value);
        return;
      }
      integer_ = static_cast<std::int64_t>(value);
      kind_ = std::same_as<T, bool> ? Kind::logical : Kind::integer;
    } else {
      floating_ = static_cast<double>(value);
    }
  }

  constexpr Kind kind() const { return kind_; }  // of the type it was made from
  /// The nearest T; for bool whether it is not 0. For i64 use whole().
  template <class T>
  requires std::floating_point<T> || std::same_as<T, bool>
  constexpr T as() const {
    if constexpr (std::same_as<T, bool>)
      return kind_ == Kind::floating ? floating_ != 0 : integer_ != 0;
    else
      return kind_ == Kind::floating ? static_cast<T>(floating_) : static_cast<T>(integer_);
  }
  /// As an i64; nothing for fractions, NaN and values out of range.
  constexpr std::optional<std::int64_t> whole() const {
    if (kind_ != Kind::floating) return integer_;
    if (!(floating_ >= -0x1p63 && floating_ < 0x1p63)) return std::nullopt;
    const auto integer = static_cast<std::int64_t>(floating_);
    if (static_cast<double>(integer) != floating_) return std::nullopt;
    return integer;
  }

 private:
  union {
    double floating_;
    std::int64_t integer_;
  };
  Kind kind_ = Kind::floating;
};

/// Any integer type except bool.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
/// Types that are not valid as an axis, index or size.
template <class T>
concept BoolOrFloat = std::same_as<T, bool> || std::floating_point<T>;
/// A number, an enumerator or a pointer, but not bool.
template <class T>
concept ScalarButBool = std::is_scalar_v<T> && !std::same_as<T, bool>;

/// An axis, index, size or count: any integer type.
class Int {
 public:
  template <Integer T>
  constexpr Int(T value)
      : value_(std::is_unsigned_v<T> && static_cast<std::uint64_t>(value) > std::uint64_t{INT64_MAX}
                   ? INT64_MAX  // out of every range, where -1 would be the last
                   : static_cast<std::int64_t>(value)) {}
  template <BoolOrFloat T>
  Int(T) = delete;  // axes, indices and sizes are integers, neither bool nor floating
  constexpr operator std::int64_t() const { return value_; }  // usable wherever an i64 is

 private:
  std::int64_t value_;
};

/// True or false, such as keepdim.
class Flag {
 public:
  constexpr Flag(bool value) : value_(value) {}
  template <ScalarButBool T>
  Flag(T) = delete;  // true or false is expected here; several axes go in braces: x.sum({0, 1})
  constexpr operator bool() const { return value_; }

 private:
  bool value_;
};

}  // namespace gradus
