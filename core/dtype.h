#pragma once
// The four element types an Array can hold.

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "gradus/core/cxx20.h"

namespace gradus {

/// The type of a tensor's elements: float, double, std::int64_t or bool.
enum class DType : std::uint8_t { f32, f64, i64, boolean };

/// The same, without the enum's name: `zeros({2, 3}, f64)`.
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;
inline constexpr DType i64 = DType::i64;
inline constexpr DType boolean = DType::boolean;

/// "f32", "f64", "i64" or "bool".
const char* name(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  return dtype == DType::boolean ? 1 : dtype == DType::f32 ? 4 : 8;
}

/// Whether it is f32 or f64, as gradients require.
constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// The DType of a C++ element type: `dtype_of<float> == f32`.
template <class T>
constexpr DType dtype_of_type() = delete;  // tensors hold float, double, std::int64_t and bool
template <>
constexpr DType dtype_of_type<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of_type<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of_type<std::int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of_type<bool>() {
  return DType::boolean;
}
/// The same as a constant.
template <class T>
inline constexpr DType dtype_of = dtype_of_type<T>();

/// The dtype of factories and parameters if none is given, initially f32. Per thread.
DType default_dtype();
void set_default_dtype(DType dtype);

/// Sets the default dtype for one scope: `DefaultDType guard(f64);`
class DefaultDType {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit DefaultDType(DType dtype)
      : before_(default_dtype()) {
    set_default_dtype(dtype);
  }
  ~DefaultDType() { set_default_dtype(before_); }
  DefaultDType(const DefaultDType&) = delete;
  DefaultDType& operator=(const DefaultDType&) = delete;

 private:
  DType before_;
};

}  // namespace gradus
