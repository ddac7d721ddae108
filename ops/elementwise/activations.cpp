// Activations: the nonlinearities between linear layers. Each derivative is one fused kernel over dy and the
// saved array. s(x) = 1 / (1 + e^-x); Phi is the normal distribution function, phi its density.
// kernels/body/functions.h: value, derivative
// kernels/body/activations.h: silu, silu_grad, gelu, gelu_grad, gelu_tanh, gelu_tanh_grad
//
//   tanh       y = tanh x      dx = dy (1 - y^2)                        saves y
//   sigmoid    y = s(x)        dx = dy y (1 - y)                        saves y
//   relu       y = max(x, 0)   dx = dy where y > 0, else 0              saves y; NaN passes forward
//   silu       y = x s(x)      dx = dy s(x) (1 + x (1 - s(x)))          saves x
//   gelu       y = x Phi(x)    dx = dy (Phi(x) + x phi(x))              saves x
//     erf:     Phi(x) = (1 + erf(x / sqrt 2)) / 2
//     tanh:    Phi(x) ~ (1 + tanh u) / 2, u = sqrt(2/pi) (x + 0.044715 x^3)
//              dx = dy ((1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2)
//
// Made of kernels of other ops:
//   softplus   y = log(1 + e^(bx)) / b = (max(bx, 0) + log(1 + e^-|bx|)) / b, which never overflows
//              dx = dy s(bx)                                            saves bx
//   leaky_relu y = x where x > 0, else k x     dx = dy where x > 0, else k dy      saves x

#include "gradus/ops/elementwise/activation_rule.h"

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"

namespace gradus {

using kernels::Unary;
using kernels::UnaryGrad;

namespace {

constexpr bool kFromOutput = true, kFromInput = false;

/// The derivative as a formula.
Tensor slope(const char* op, UnaryGrad df, const Saved& saved, const Taped& of) {
  switch (df) {
    case UnaryGrad::tanh:
      return 1 - square(of.out(saved));
    case UnaryGrad::sigmoid:
      return of.out(saved) * (1 - of.out(saved));
    default:
      fail_with("grad: {} has no second derivative", op);
  }
}

Tensor apply(const ActivationRule& rule, const Tensor& x) {
  return record_activation(rule, x, array::unary(rule.op, rule.f, operand(rule.op, x)));
}

}  // namespace

ActivationRule rule_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return {"relu", Unary::relu, UnaryGrad::relu, kFromOutput};
    case Activation::gelu:
      return {"gelu", Unary::gelu, UnaryGrad::gelu, kFromInput};
    case Activation::gelu_tanh:
      return {"gelu", Unary::gelu_tanh, UnaryGrad::gelu_tanh, kFromInput};
    case Activation::silu:
      return {"silu", Unary::silu, UnaryGrad::silu, kFromInput};
  }
  fail_with("activate: there is no activation number {}", static_cast<int>(activation));
}

Tensor record_activation(const ActivationRule& rule, const Tensor& x, const Array& y) {
  return record(rule.op, y, {&x},
                [op = rule.op, df = rule.df, saved = Saved(rule.from_output ? y : x.array())]<class V>(
                    const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {df == UnaryGrad::relu
                                ? where(Tensor(*saved) > 0, dy, Tensor(array::scalar(0, dy.dtype())))
                                : dy * slope(op, df, saved, of)};
                  else
                    return {array::unary_grad(op, df, *saved, dy)};
                });
}

Tensor activate(Activation activation, const Tensor& x) { return apply(rule_of(activation), x); }

Tensor tanh(const Tensor& x) { return apply({"tanh", Unary::tanh, UnaryGrad::tanh, kFromOutput}, x); }
Tensor sigmoid(const Tensor& x) {
  return apply({"sigmoid", Unary::sigmoid, UnaryGrad::sigmoid, kFromOutput}, x);
}
Tensor relu(const Tensor& x) { return activate(Activation::relu, x); }
Tensor leaky_relu(const Tensor& x, double negative_slope) {
  const char* const op = "leaky_relu";
  const Array& from = floating_operand(op, x);
  const auto bent = [=](const Array& at, const Array& y) {
    return array::where(array::compare(op, kernels::Compare::gt, at, 0), y, array::mul(y, negative_slope));
  };
  return record(op, bent(from, from), {&x},
                [=, from = Saved(from)](const Array& dy, Needs) -> Grads { return {bent(*from, dy)}; });
}

Tensor softplus(const Tensor& x, double beta) {
  const char* const op = "softplus";
  const Array& from = floating_operand(op, x);
  check(beta > 0, "softplus: expects beta > 0, got {}", beta);
  const Array z = beta == 1 ? from : array::mul(from, beta);
  const Array small = array::unary(op, Unary::exp, array::neg(array::unary(op, Unary::abs, z)));
  const Array y = array::add(array::unary(op, Unary::relu, z), array::unary(op, Unary::log1p, small));
  return record(op, beta == 1 ? y : array::mul(y, 1 / beta), {&x},
                [op, z = Saved(z)](const Array& dy, Needs) -> Grads {
                  return {array::mul(dy, array::unary(op, Unary::sigmoid, *z))};
                });
}

Tensor silu(const Tensor& x) { return activate(Activation::silu, x); }
Tensor gelu(const Tensor& x, GeluForm form) {
  return activate(form == GeluForm::tanh ? Activation::gelu_tanh : Activation::gelu, x);
}

}  // namespace gradus
