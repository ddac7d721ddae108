// Activations: the bends between two linear layers. Each derivative is one fused kernel over dy and what was
// saved. s(x) = 1 / (1 + e^-x); Phi is the normal distribution function, phi its density.
//
//   tanh       y = tanh x      dx = dy (1 - y^2)                        saves y
//   sigmoid    y = s(x)        dx = dy y (1 - y)                        saves y
//   relu       y = max(x, 0)   dx = dy where y > 0, else 0              saves y; NaN passes forward
//   silu       y = x s(x)      dx = dy s(x) (1 + x (1 - s(x)))          saves x
//   gelu       y = x Phi(x)    dx = dy (Phi(x) + x phi(x))              saves x
//     erf:     Phi(x) = (1 + erf(x / sqrt 2)) / 2
//     tanh:    Phi(x) ~ (1 + tanh u) / 2, u = sqrt(2/pi) (x + 0.044715 x^3)
//              dx = dy ((1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2)

#include "gradus/core/record.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/ops.h"

namespace gradus {

using kernels::Unary;
using kernels::UnaryGrad;

namespace {

/// An activation whose derivative is had from its output: the input can be forgotten.
Tensor from_output(const char* op, Unary f, UnaryGrad df, const Tensor& x) {
  const Array y = eager::unary(op, f, x.array());
  return record(op, y, {&x}, [op, df, y = Saved(y)](const Array& dy, Needs) -> Grads {
    return {eager::unary_grad(op, df, *y, dy)};
  });
}

/// An activation whose derivative needs the input.
Tensor from_input(const char* op, Unary f, UnaryGrad df, const Tensor& x) {
  return record(op, eager::unary(op, f, x.array()), {&x},
                [op, df, x = Saved(x.array())](const Array& dy, Needs) -> Grads {
                  return {eager::unary_grad(op, df, *x, dy)};
                });
}

}  // namespace

Tensor tanh(const Tensor& x) { return from_output("tanh", Unary::tanh, UnaryGrad::tanh, x); }
Tensor sigmoid(const Tensor& x) { return from_output("sigmoid", Unary::sigmoid, UnaryGrad::sigmoid, x); }
Tensor relu(const Tensor& x) { return from_output("relu", Unary::relu, UnaryGrad::relu, x); }
Tensor silu(const Tensor& x) { return from_input("silu", Unary::silu, UnaryGrad::silu, x); }

Tensor gelu(const Tensor& x, GeluForm form) {
  if (form == GeluForm::tanh) return from_input("gelu", Unary::gelu_tanh, UnaryGrad::gelu_tanh, x);
  return from_input("gelu", Unary::gelu, UnaryGrad::gelu, x);
}

}  // namespace gradus
