#pragma once
// From a run-time dtype to a compile-time type, and the error messages for unsupported dtypes.
// f is called as f.template operator()<T>():
//
//     dispatch_floating("my_op", x, [&]<class T>() {
//       const T* const in = x.data<T>();
//       ...
//     });

#include <cstdint>

#include "gradus/core/array/array.h"

namespace gradus {

namespace detail {
[[noreturn]] void fail_not_floating(const char* op, const char* what, DType dtype, const Shape& shape);
[[noreturn]] void fail_not_floating(const char* op, DType dtype);
[[noreturn]] void fail_not_numbers(const char* op, DType dtype, const Shape& shape);
[[noreturn]] void fail_half(const char* op, DType dtype, const Shape& shape);
[[noreturn]] void fail_not_bool(const char* op, DType dtype, const Shape& shape);
[[noreturn]] void fail_different(const char* op, const char* what, const Array& a, const Array& b);
}  // namespace detail

/// Throws "softmax: expects f32 or f64, got i64 [2, 3]: convert with .to(f32)" unless x is one of these;
/// with `what`, the name of x: "Dropout: expects x of f32 or f64, ...".
inline void check_floating(const char* op, const Array& x, const char* what = nullptr) {
  if (!is_floating(x.dtype())) [[unlikely]]
    detail::fail_not_floating(op, what, x.dtype(), x.shape());
}

/// For a requested dtype: "rand: expects f32 or f64, got i64: convert the result with .to(i64)".
inline void check_floating(const char* op, DType dtype) {
  if (!is_floating(dtype)) [[unlikely]]
    detail::fail_not_floating(op, dtype);
}

/// Throws "where: expects bool, got f32 [2, 3]: compare first, as in x != 0" unless x is.
inline void check_bool(const char* op, const Array& x) {
  if (x.dtype() != DType::boolean) [[unlikely]]
    detail::fail_not_bool(op, x.dtype(), x.shape());
}

/// Throws "add: operands have different dtypes: f32 [2, 3] and f64 [3]: convert one with .to()" unless a and
/// b have the same. `what`: their name.
inline void check_same_dtype(const char* op, const Array& a, const Array& b, const char* what = "operands") {
  if (a.dtype() != b.dtype()) [[unlikely]]
    detail::fail_different(op, what, a, b);
}

/// Any type, for what only moves elements.
template <class F>
decltype(auto) dispatch_all(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f16:
      return f.template operator()<Float16>();
    case DType::boolean:
      break;
  }
  return f.template operator()<bool>();
}

/// float, double, std::int64_t or bool; throws naming `op` for halves, "eq: expects f32, f64, i64 or bool,
/// got bf16 [3]: convert with .to(f32)".
template <class F>
decltype(auto) dispatch_comparable(const char* op, const Array& x, F&& f) {
  switch (x.dtype()) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::boolean:
      return f.template operator()<bool>();
    default:
      detail::fail_half(op, x.dtype(), x.shape());
  }
}

/// float or double, for a dtype already checked.
template <class F>
decltype(auto) dispatch_floating(DType dtype, F&& f) {
  return dtype == DType::f32 ? f.template operator()<float>() : f.template operator()<double>();
}

/// float or double; throws naming `op` for other dtypes.
template <class F>
decltype(auto) dispatch_floating(const char* op, const Array& x, F&& f) {
  check_floating(op, x);
  return dispatch_floating(x.dtype(), f);
}

/// float, double or std::int64_t; throws naming `op` for the others, "add: expects numbers, got bool [3]:
/// ...".
template <class F>
decltype(auto) dispatch_numbers(const char* op, const Array& x, F&& f) {
  if (x.dtype() == DType::f32) return f.template operator()<float>();
  if (x.dtype() == DType::f64) return f.template operator()<double>();
  if (x.dtype() != DType::i64) [[unlikely]]
    detail::fail_not_numbers(op, x.dtype(), x.shape());
  return f.template operator()<std::int64_t>();
}

}  // namespace gradus
