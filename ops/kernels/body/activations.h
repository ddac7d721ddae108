#pragma once
// Part of body.h. Sigmoid, SiLU and the two forms of GELU, with their derivatives; the formulas are those of
// elementwise/activations.cpp.
//
// All avoid 1 - (something near 1), so small results keep their digits, and give the limit at the infinities:
// gelu(-inf) and silu(-inf) are -0, not NaN. The clamps below only move arguments for which the result is
// settled.

namespace gradus::kernels {
namespace {

/// Between -bound and bound; NaN passes.
template <class V>
V within(V x, double bound) {
  return min(V(bound), max(V(-bound), x));
}

// s = 1 / (1 + exp(-x)), q = 1 - s = 1 / (1 + exp(x)): one of the two is exp(-|x|) times the other.
template <class V>
struct Logistic {
  V s, q;
};
template <class V>
[[gnu::always_inline]] inline Logistic<V> logistic(V x) {
  const V e = exp_negative(flip_sign(abs(x), V(-0.0)));
  const V large = V(1) / (e + 1), small = e * large;
  const auto negative = x < 0;
  return {select(negative, small, large), select(negative, large, small)};
}

/// x s(x)
template <class V>
V silu(V x) {
  return max(V(-800), x) * logistic(x).s;
}

/// dy d/dx x s(x) = dy s (1 + x q), q = 1 - s
template <class V>
V silu_grad(V x, V dy) {
  x = within(x, 800);
  const auto [s, q] = logistic(x);
  return dy * s * fma(x, q, 1);
}

/// 1/2 (1 + tanh(u)) is the logistic function of 2u; here 2u = x (a + b x^2) with a = 2 sqrt(2/pi)
/// and b = 0.044715 a.
constexpr double gelu_a = 1.5957691216057308, gelu_b = 0.071354816272600249;

/// x (1 + tanh u) / 2 = x s(2u)
template <class V>
V gelu_tanh(V x) {
  x = max(V(-40), x);
  return x * logistic(x * fma(x * x, gelu_b, gelu_a)).s;
}

/// dy d/dx x s(2u) = dy s (1 + x q (a + 3 b x^2))
template <class V>
V gelu_tanh_grad(V x, V dy) {
  x = within(x, 40);
  const auto [s, q] = logistic(x * fma(x * x, gelu_b, gelu_a));
  return dy * s * fma(x * q, fma(x * x, 3 * gelu_b, gelu_a), 1);
}

// bell = exp(-x^2 / 2), cdf = Phi(x), the standard normal distribution function.
template <class V>
struct Normal {
  V cdf, bell;
};

/// Phi(-t) = bell(t) R(t) for t >= 0, where R falls smoothly from 1/2 like 1/t: a quotient of polynomials
/// with positive coefficients (nothing cancels) has relative error 3e-8. So both tails keep their digits.
[[gnu::always_inline]] inline Normal<Vec<float>> normal(Vec<float> x) {
  using V = Vec<float>;
  const V t = abs(x), bell = exp_negative(t * t * V(-0.5));
  const V p = polynomial(t, 0.5f, 0.438302338f, 0.183239892f, 0.0406346135f, 0.00411644904f);
  const V q = polynomial(t, 1.0f, 1.67448974f, 1.20252442f, 0.469482988f, 0.101862311f, 0.0103182886f);
  const V tail = bell * (p / q);
  return {select(x < 0, tail, V(1) - tail), bell};
}

inline Normal<Vec<double>> normal(Vec<double> x) {
  using V = Vec<double>;
  const V cdf = by_lane(x, [](double v) { return 0.5 * ::erfc(v * -0.70710678118654752); });
  return {cdf, exp(x * x * V(-0.5))};
}

/// x Phi(x)
template <class V>
V gelu(V x) {
  return max(V(-40), x) * normal(within(x, 40)).cdf;
}

/// dy d/dx x Phi(x) = dy (Phi(x) + x phi(x)), phi(x) = bell / sqrt(2 pi)
template <class V>
V gelu_grad(V x, V dy) {
  x = within(x, 40);
  const auto [cdf, bell] = normal(x);
  return dy * fma(x * V(0.39894228040143268), bell, cdf);
}

}  // namespace
}  // namespace gradus::kernels
