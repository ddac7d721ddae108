#pragma once
// Lossless conversion of numbers to and from elements.

#include <cmath>
#include <string>
#include <utility>

#include "gradus/core/detail/format.h"

namespace gradus {

/// Whether a T can represent `value`. Rounding between floating types is allowed.
template <Element T, Element From>
bool holds(From value) {
  if constexpr (std::is_same_v<T, From> || std::is_same_v<From, bool>) {
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value == 0 || value == 1;
  } else if constexpr (std::is_integral_v<T> && std::is_integral_v<From>) {
    return std::in_range<T>(value);
  } else if constexpr (std::is_integral_v<T>) {
    constexpr double end = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    return value == std::trunc(value) && value >= static_cast<From>(std::numeric_limits<T>::min()) &&
           static_cast<double>(value) < end;
  } else if constexpr (std::is_integral_v<From>) {
    const T rounded = static_cast<T>(value);
    return holds<From>(rounded) && static_cast<From>(rounded) == value;
  } else {
    return true;
  }
}

/// `value` as a T; throws naming `op` and `place` (" at index 3", or empty) if T cannot represent it.
template <Element T, Element From>
T exact(const char* op, From value, std::int64_t index = -1) {
  if (holds<T>(value)) [[likely]]
    return static_cast<T>(value);
  const std::string what =
      fmt::format("{}: {}{}", op, value, index < 0 ? "" : fmt::format(" at index {}", index));
  if constexpr (std::is_same_v<T, bool>)
    fail_with("{} is neither 0 nor 1: compare first, as in x != 0", what);
  else if constexpr (std::is_floating_point_v<T>)
    fail_with("{} is not exact in {} bits of precision: read it with {}<std::int64_t>()", what,
              std::numeric_limits<T>::digits, op);
  if (std::is_floating_point_v<From> && static_cast<double>(value) != std::trunc(static_cast<double>(value)))
    fail_with("{} is not a whole number: drop fractions with .to(i64) first, or read it as double", what);
  fail_with("{} does not fit: expects {} to {}", what, std::numeric_limits<T>::min(),
            std::numeric_limits<T>::max());
}

}  // namespace gradus
