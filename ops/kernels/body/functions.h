#pragma once
// Part of body.h. The functions named in kernels.h: a line each, which calls body/math.h and
// body/activations.h if it needs more.

namespace gradus::kernels {
namespace {

template <class V>
V neg(V x) {
  return flip_sign(x, V(-0.0));
}

template <class V>
V relu(V x) {
  return max(V(0), x);  // NaN passes
}

// max(b, a) is a where either is NaN: right when a is, so only b is left to look at.
template <class V>
V maximum(V a, V b) {
  return select(b != b, b, max(b, a));
}
template <class V>
V minimum(V a, V b) {
  return select(b != b, b, min(b, a));
}

/// To the nearest whole number, ties to even. From `whole` on every number is one; below, adding it leaves no
/// bits for a fraction.
template <class V>
V round_even(V x) {
  constexpr double whole = sizeof(ScalarOf<V>) == sizeof(float) ? 0x1p23 : 0x1p52;
  const V a = abs(x);
  return select(a < whole, flip_sign((a + whole) - whole, sign_bit(x)), x);
}
template <class V>
V floor(V x) {
  const V nearest = round_even(x);
  return select(nearest > x, nearest - 1, nearest);
}

/// f(x)
template <Unary f, class V>
[[gnu::always_inline]] inline V value(V x) {
  if constexpr (f == Unary::neg)
    return neg(x);
  else if constexpr (f == Unary::abs)
    return abs(x);
  else if constexpr (f == Unary::square)
    return x * x;
  else if constexpr (f == Unary::sqrt)
    return sqrt(x);
  else if constexpr (f == Unary::rsqrt)
    return V(1) / sqrt(x);
  else if constexpr (f == Unary::reciprocal)
    return V(1) / x;
  else if constexpr (f == Unary::exp)
    return exp(x);
  else if constexpr (f == Unary::expm1)
    return expm1(x);
  else if constexpr (f == Unary::log)
    return log(x);
  else if constexpr (f == Unary::log2)
    return log2(x);
  else if constexpr (f == Unary::log1p)
    return log1p(x);
  else if constexpr (f == Unary::sin)
    return sin(x);
  else if constexpr (f == Unary::cos)
    return cos(x);
  else if constexpr (f == Unary::tanh)
    return tanh(x);
  else if constexpr (f == Unary::sigmoid)
    return logistic(x).s;
  else if constexpr (f == Unary::relu)
    return relu(x);
  else if constexpr (f == Unary::gelu)
    return gelu(x);
  else if constexpr (f == Unary::gelu_tanh)
    return gelu_tanh(x);
  else if constexpr (f == Unary::silu)
    return silu(x);
  else if constexpr (f == Unary::erf)
    return erf(x);
  else if constexpr (f == Unary::sign)
    return select(x > 0, V(1), select(x < 0, V(-1), x));  // NaN passes
  else if constexpr (f == Unary::floor)
    return floor(x);
  else if constexpr (f == Unary::ceil)
    return neg(floor(neg(x)));
  else if constexpr (f == Unary::round)
    return round_even(x);
  else
    static_assert(f == Unary::count, "a name of kernels.h without a function");
}

/// dy f'(x), given what forward saved: y or x.
template <UnaryGrad f, class V>
[[gnu::always_inline]] inline V derivative(V saved, V dy) {
  [[maybe_unused]] const V x = saved, y = saved;
  if constexpr (f == UnaryGrad::tanh)
    return dy * (V(1) - y * y);
  else if constexpr (f == UnaryGrad::sigmoid)
    return dy * y * (V(1) - y);
  else if constexpr (f == UnaryGrad::relu)
    return select(y > 0, dy, V(0));
  else if constexpr (f == UnaryGrad::gelu)
    return gelu_grad(x, dy);
  else if constexpr (f == UnaryGrad::gelu_tanh)
    return gelu_tanh_grad(x, dy);
  else if constexpr (f == UnaryGrad::silu)
    return silu_grad(x, dy);
  else if constexpr (f == UnaryGrad::erf)
    return dy * V(1.1283791670955126) * exp_negative(neg(x * x));  // 2/sqrt(pi) e^(-x^2)
  else if constexpr (f == UnaryGrad::sin)
    return dy * cos(x);
  else if constexpr (f == UnaryGrad::cos)
    return neg(dy * sin(x));
  else
    static_assert(f == UnaryGrad::count, "a name of kernels.h without a function");
}

template <Binary f, class V>
[[gnu::always_inline]] inline V value(V a, V b) {
  if constexpr (f == Binary::add)
    return a + b;
  else if constexpr (f == Binary::sub)
    return a - b;
  else if constexpr (f == Binary::mul)
    return a * b;
  else if constexpr (f == Binary::div)
    return a / b;
  else if constexpr (f == Binary::pow)
    return pow(a, b);
  else if constexpr (f == Binary::floor_divide)
    return by_lane(a, b, [](ScalarOf<V> x, ScalarOf<V> y) { return floor_quotient(x, y); });
  else if constexpr (f == Binary::remainder)
    return by_lane(a, b, [](ScalarOf<V> x, ScalarOf<V> y) { return floor_remainder(x, y); });
  else if constexpr (f == Binary::maximum)
    return maximum(a, b);
  else if constexpr (f == Binary::minimum)
    return minimum(a, b);
  else
    static_assert(f == Binary::count, "a name of kernels.h without a function");
}

template <Compare f, class V>
[[gnu::always_inline]] inline typename V::Mask value(V a, V b) {
  if constexpr (f == Compare::eq)
    return a == b;
  else if constexpr (f == Compare::ne)
    return a != b;
  else if constexpr (f == Compare::lt)
    return a < b;
  else if constexpr (f == Compare::le)
    return a <= b;
  else if constexpr (f == Compare::gt)
    return a > b;
  else if constexpr (f == Compare::ge)
    return a >= b;
  else
    static_assert(f == Compare::count, "a name of kernels.h without a function");
}

}  // namespace
}  // namespace gradus::kernels
