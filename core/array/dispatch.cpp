#include "gradus/core/array/detail/element.h"

namespace gradus::detail {

void fail_not_floating(const char* op, const char* what, DType dtype, const Shape& shape) {
  fail_with("{}: expects {}{}f32 or f64, got {} {}: convert with .to(f32)", op, what ? what : "",
            what ? " of " : "", dtype, shape);
}

void fail_not_floating(const char* op, DType dtype) {
  fail_with("{}: expects f32 or f64, got {}: convert the result with .to({})", op, dtype, dtype);
}

void fail_not_numbers(const char* op, DType dtype, const Shape& shape) {
  if (is_half(dtype)) fail_half(op, dtype, shape);
  fail_with("{}: expects numbers, got {} {}: convert with .to(f32)", op, dtype, shape);
}

void fail_half(const char* op, DType dtype, const Shape& shape) {
  fail_with("{}: expects f32, f64, i64 or bool, got {} {}, which only stores numbers: convert with .to(f32)",
            op, dtype, shape);
}

void fail_not_bool(const char* op, DType dtype, const Shape& shape) {
  fail_with("{}: expects bool, got {} {}: compare first, as in x != 0", op, dtype, shape);
}

void fail_different(const char* op, const char* what, const Array& a, const Array& b) {
  if (is_half(a.dtype()) != is_half(b.dtype()))
    fail_with("{}: {} have different dtypes: {} {} and {} {}: convert the one of 16 bits with .to(f32)", op,
              what, a.dtype(), a.shape(), b.dtype(), b.shape());
  fail_with("{}: {} have different dtypes: {} {} and {} {}: convert one with .to()", op, what, a.dtype(),
            a.shape(), b.dtype(), b.shape());
}

}  // namespace gradus::detail
