#pragma once
// Attention's gradients in ops, for gradients of gradients.

#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/ops.h"

namespace gradus::attention {

/// q [B, H, Tq, D], k, v, and the mask in the shape it was given in or undefined; or their gradients.
struct Operands {
  Tensor q, k, v, mask;
};

/// Whose gradients are wanted.
struct Wanted {
  bool q, k, v, mask;
};

/// The gradients of scaled_dot_product_attention on the tape, from that of its output.
Operands derivative(const Rule& rule, const Operands& x, const Tensor& dout, const Wanted& wanted);

}  // namespace gradus::attention
