#pragma once
// Unary functions and their derivatives as their definitions have them, for a wider type.

#include <cmath>
#include <limits>

#include "gradus/ops/kernels/kernels.h"

namespace gradus::test {

template <class R>
R logistic(R x) {
  const R e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

template <class R>
R normal_cdf(R x) {
  return std::erfc(-x / std::sqrt(R(2))) / 2;
}

template <class R>
R tanh_argument(R x) {  // twice that of gelu_tanh's tanh
  return 2 * std::sqrt(2 / std::acos(R(-1))) * (x + R(0.044715L) * x * x * x);
}

template <class R>
R reference(kernels::Unary op, R x) {
  using kernels::Unary;
  const bool bottom = x == -std::numeric_limits<R>::infinity();
  switch (op) {
    case Unary::neg:
      return -x;
    case Unary::abs:
      return std::fabs(x);
    case Unary::square:
      return x * x;
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::rsqrt:
      return 1 / std::sqrt(x);
    case Unary::reciprocal:
      return 1 / x;
    case Unary::exp:
      return std::exp(x);
    case Unary::expm1:
      return std::expm1(x);
    case Unary::log:
      return std::log(x);
    case Unary::log2:
      return std::log2(x);
    case Unary::log1p:
      return std::log1p(x);
    case Unary::sin:
      return std::sin(x);
    case Unary::cos:
      return std::cos(x);
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid:
      return logistic(x);
    case Unary::relu:
      return x < 0 ? 0 : x;
    case Unary::gelu:
      return bottom ? -R(0) : x * normal_cdf(x);
    case Unary::gelu_tanh:
      return bottom ? -R(0) : x * logistic(tanh_argument(x));
    case Unary::silu:
      return bottom ? -R(0) : x * logistic(x);
    case Unary::erf:
      return std::erf(x);
    case Unary::sign:
      return x > 0 ? R(1) : x < 0 ? R(-1) : x;
    case Unary::floor:
      return std::floor(x);
    case Unary::ceil:
      return std::ceil(x);
    case Unary::round:
      return std::nearbyint(x);  // ties to even, as the processor starts
    case Unary::count:
      break;
  }
  return 0;
}

// The derivative, and the sum of the sizes of its terms: its rounding errors are in proportion to that.
template <class R>
struct Slope {
  R value, size;
};

template <class R>
Slope<R> slope(kernels::UnaryGrad op, R x) {
  using kernels::UnaryGrad;
  const auto sum = [](R a, R b) { return Slope<R>{a + b, std::fabs(a) + std::fabs(b)}; };
  const R tau = 2 * std::acos(R(-1));
  const R u = x < -800 ? R(-800) : x > 800 ? R(800) : x;  // infinity times 0 is no limit
  switch (op) {
    case UnaryGrad::tanh:
      return sum(1, -x * x);
    case UnaryGrad::sigmoid:
      return sum(x, -x * x);
    case UnaryGrad::relu:
      return {R(x > 0), 1};
    case UnaryGrad::gelu:
      return sum(normal_cdf(u), u * std::exp(-u * u / 2) / std::sqrt(tau));
    case UnaryGrad::gelu_tanh: {
      const R v = tanh_argument(u), inner = 2 * std::sqrt(4 / tau) * (1 + 3 * R(0.044715L) * u * u);
      return sum(logistic(v), u * inner * logistic(v) * logistic(-v));
    }
    case UnaryGrad::silu:
      return sum(logistic(u), u * logistic(u) * logistic(-u));
    case UnaryGrad::erf:
      return sum(2 * std::exp(-x * x) / std::sqrt(tau / 2), 0);
    case UnaryGrad::sin:
      return sum(std::cos(x), 0);
    case UnaryGrad::cos:
      return sum(-std::sin(x), 0);
    case UnaryGrad::count:
      break;
  }
  return {0, 0};
}

}  // namespace gradus::test
