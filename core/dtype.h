#pragma once
// The element types an Array can hold: four to compute with, and two that only store numbers.

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "gradus/core/cxx20.h"
#include "gradus/core/half.h"

namespace gradus {

/// The type of a tensor's elements: float, double, std::int64_t or bool; BFloat16 or Float16, which are for
/// storage: tensors of them are converted, moved, printed, saved and loaded, and every op that computes
/// throws.
enum class DType : std::uint8_t { f32, f64, i64, boolean, bf16, f16 };

/// The same, without the enum's name: `zeros({2, 3}, f64)`.
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;
inline constexpr DType i64 = DType::i64;
inline constexpr DType boolean = DType::boolean;
inline constexpr DType bf16 = DType::bf16;
inline constexpr DType f16 = DType::f16;

/// "f32", "f64", "i64", "bool", "bf16" or "f16".
const char* name(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);

/// Whether it is bf16 or f16.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  return dtype == DType::boolean ? 1 : is_half(dtype) ? 2 : dtype == DType::f32 ? 4 : 8;
}

/// Whether it is f32 or f64, as gradients require.
constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// The DType of a C++ element type: `dtype_of<float> == f32`.
template <class T>
constexpr DType dtype_of_type() = delete;  // tensors hold float, double, std::int64_t, bool and halves
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
template <>
constexpr DType dtype_of_type<BFloat16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of_type<Float16>() {
  return DType::f16;
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
