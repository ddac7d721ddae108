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
//
// Second derivatives differentiate dx = dy f'(x). For tanh, sigmoid and softplus f' is made of ops, and so
// has gradients itself; relu and leaky_relu choose again. For silu and gelu dx = dy f'(x) is an op of its
// own, with the same kernel, whose gradient needs f''. With q(x) = 1 - s(x) = s(-x), s' = s q:
//   silu       f'' = s q (2 + x (q - s))
//   gelu, erf  f'' = phi(x) (2 - x^2)
//         tanh f'' = s q (2 v' + x v'' + x (q - s) v'^2) for y = x s(v), s and q at v = 2 u

#include "gradus/ops/elementwise/activation_rule.h"

#include <numbers>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"

namespace gradus {

using kernels::Compare;
using kernels::Unary;
using kernels::UnaryGrad;

namespace {

constexpr bool kFromOutput = true, kFromInput = false;

/// f'' of silu or a gelu, which is 0 beyond the bounds.
Tensor second_slope(UnaryGrad df, const Tensor& input) {
  if (df == UnaryGrad::silu) {
    const Tensor x = formula::limited(input, 800), s = sigmoid(x), q = sigmoid(-x);
    return s * q * (2 + x * (q - s));
  }
  if (df == UnaryGrad::gelu) {
    constexpr double phi0 = std::numbers::inv_sqrtpi / std::numbers::sqrt2;  // phi(0)
    const Tensor half = square(formula::limited(input, 40)) * 0.5;
    return exp(-half) * ((1 - half) * (2 * phi0));
  }
  const Tensor x = formula::limited(input, 40), x2 = square(x);
  constexpr double a = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi, b = 0.044715 * a;
  const Tensor v = x * (x2 * b + a), slope = x2 * (3 * b) + a, s = sigmoid(v), q = sigmoid(-v);
  return s * q * (x2 * (12 * b) + 2 * a + x * (q - s) * square(slope));
}

/// dy f'(x) of silu or a gelu as an op. It is linear in dy.
Tensor times_slope(const char* op, UnaryGrad df, const Tensor& dy, const Tensor& x) {
  return record(
      op, array::unary_grad(op, df, x.array(), dy.array()), {&dy, &x},
      [op, df, dy = Saved(dy.array()), x = Saved(x.array())]<class V>(const V& d, auto of) -> GradsOf<V> {
        if constexpr (kTaped<V>) {
          const Tensor at = of.in(1, x);
          return {of[0] ? times_slope(op, df, d, at) : Tensor(),
                  of[1] ? d * of.in(0, dy) * second_slope(df, at) : Tensor()};
        } else {
          return {of[0] ? array::unary_grad(op, df, *x, d) : Array(),
                  of[1] ? array::mul(array::mul(d, *dy), second_slope(df, Tensor(*x)).array()) : Array()};
        }
      });
}

/// The gradient of an activation on the tape.
Tensor derivative(const char* op, UnaryGrad df, const Tensor& dy, const Saved& saved, const Taped& of) {
  switch (df) {
    case UnaryGrad::tanh:
      return dy * (1 - square(of.out(saved)));
    case UnaryGrad::sigmoid:
      return dy * of.out(saved) * (1 - of.out(saved));
    case UnaryGrad::relu:
      return formula::choose(array::compare(op, Compare::gt, *saved, 0), dy, formula::zero_for(dy));
    default:
      return times_slope(op, df, dy, of.in(0, saved));
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
                    return {derivative(op, df, dy, saved, of)};
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
  const auto bent = [op, negative_slope]<class V>(const Array& at, const V& y) -> V {
    return formula::choose(array::compare(op, Compare::gt, at, 0), y, formula::mul(y, negative_slope));
  };
  return record(
      op, bent(from, from), {&x},
      [bent, from = Saved(from)]<class V>(const V& dy, auto) -> GradsOf<V> { return {bent(*from, dy)}; });
}

Tensor softplus(const Tensor& x, double beta) {
  const char* const op = "softplus";
  const Array& from = floating_operand(op, x);
  check(beta > 0, "softplus: expects beta > 0, got {}", beta);
  const Array z = beta == 1 ? from : array::mul(from, beta);
  const Array small = array::unary(op, Unary::exp, array::neg(array::unary(op, Unary::abs, z)));
  const Array y = array::add(array::unary(op, Unary::relu, z), array::unary(op, Unary::log1p, small));
  return record(op, beta == 1 ? y : array::mul(y, 1 / beta), {&x},
                [beta, z = Saved(z)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dy * sigmoid(of.in(0, array::mul(*z, 1 / beta)) * beta)};
                  else
                    return {array::mul(dy, array::unary("softplus", Unary::sigmoid, *z))};
                });
}

Tensor silu(const Tensor& x) { return activate(Activation::silu, x); }
Tensor gelu(const Tensor& x, GeluForm form) {
  return activate(form == GeluForm::tanh ? Activation::gelu_tanh : Activation::gelu, x);
}

}  // namespace gradus
