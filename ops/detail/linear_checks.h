#pragma once
// Argument checks of linear and linear_cross_entropy.

#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"

namespace gradus {

/// Throws unless x [..., in], weight [out, in] and bias [out], or none, fit together. Next to a weight in
/// bf16 the others are f32.
inline void check_linear(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_floating(op, operand(op, x), "x");
  check(operand(op, weight).dim() == 2, "{}: expects a weight [out, in], got {}", op, weight.shape());
  check(x.dim() > 0 && x.size(-1) == weight.size(1),
        "{}: x {} and weight {} do not match: x's last axis must be {}, the weight's second", op, x.shape(),
        weight.shape(), weight.size(1));
  const bool half = weight.dtype() == bf16;
  if (half)
    check(x.dtype() == f32, "{}: expects x of f32 for a weight in bf16, got {} {}: convert x with .to(f32)",
          op, x.dtype(), x.shape());
  else
    array::check_operands(op, x.array(), weight.array());
  if (!bias.defined()) return;
  check(bias.shape() == Shape{weight.size(0)}, "{}: expects a bias [{}] for weight {}, got {}", op,
        weight.size(0), weight.shape(), bias.shape());
  array::check_operands(op, half ? x.array() : weight.array(), bias.array());
}

}  // namespace gradus
