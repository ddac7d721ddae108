#pragma once
// Internal additions to core/array/dispatch.h: messages, and conversion of numbers to elements.

#include "gradus/core/array/dispatch.h"
#include "gradus/core/detail/format.h"

namespace gradus {

/// `value` as an element of T; throws naming `op` if T is i64 and the value is not an integer. `shape`: of
/// the other operand.
template <class T>
T element(const char* op, Scalar value, const Shape& shape) {
  if constexpr (kHalf<T>) {
    return T(value.as<float>());
  } else if constexpr (!std::is_same_v<T, std::int64_t>) {
    return value.as<T>();
  } else {
    const std::optional<std::int64_t> whole = value.whole();
    if (!whole) [[unlikely]]
      fail_with("{}: the number {} is not an i64, as the tensor {} is: convert the tensor with .to(f32)", op,
                value, shape);
    return *whole;
  }
}

}  // namespace gradus
