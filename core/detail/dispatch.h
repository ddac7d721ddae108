#pragma once
// From a run-time dtype to a compile-time type (internal): f is called as f.template operator()<T>().

#include "gradus/core/detail/format.h"

namespace gradus {

/// float or double; throws naming `op` for other dtypes.
template <class F>
decltype(auto) dispatch_floating(const char* op, DType dtype, F&& f) {
  if (dtype == DType::f32) return f.template operator()<float>();
  if (dtype == DType::f64) return f.template operator()<double>();
  fail_with("{}: expects f32 or f64, got {}: convert with .to(f32)", op, dtype);
}

/// `value` as an element of T; throws naming `op` when T is i64 and the value is not. `shape`: of what it
/// meets.
template <class T>
T element(const char* op, Scalar value, const Shape& shape) {
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    return value.as<T>();
  } else {
    const std::optional<std::int64_t> whole = value.whole();
    if (!whole) [[unlikely]]
      fail_with("{}: the number {} is not an i64, as the tensor {} is: convert the tensor with .to(f32)", op,
                value, shape);
    return *whole;
  }
}

/// Any of the four types.
template <class F>
decltype(auto) dispatch_all(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::boolean:
      break;
  }
  return f.template operator()<bool>();
}

}  // namespace gradus
