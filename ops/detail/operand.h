#pragma once
// Argument checks shared by many ops.

#include <span>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tensor.h"

namespace gradus {

/// The array of an op's input; throws naming the op when the tensor is undefined.
inline const Array& operand(const char* op, const Tensor& x) {
  if (!x.defined()) [[unlikely]]
    fail_undefined(op);
  return x.array();
}

/// The same for f32 or f64; `what` as in check_floating.
inline const Array& floating_operand(const char* op, const Tensor& x, const char* what = nullptr) {
  check_floating(op, operand(op, x), what);
  return x.array();
}

/// The same for an index: i64, or an error with the remedy.
inline const Array& index_operand(const char* op, const Tensor& index) {
  if (!index.defined()) [[unlikely]]
    fail_undefined(op, "the index");
  check(index.dtype() == i64, "{}: expects an i64 index, got {} {}: convert with .to(i64)", op, index.dtype(),
        index.shape());
  return index.array();
}

}  // namespace gradus
