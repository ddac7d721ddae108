#pragma once
// From a run-time dtype to a compile-time type (internal): f is called as f.template operator()<T>().

#include "gradus/core/format.h"

namespace gradus {

/// float or double; throws naming `op` for other dtypes.
template <class F>
decltype(auto) dispatch_floating(const char* op, DType dtype, F&& f) {
  if (dtype == DType::f32) return f.template operator()<float>();
  if (dtype == DType::f64) return f.template operator()<double>();
  fail_with("{}: expects f32 or f64, got {}: convert with .to(f32)", op, dtype);
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
