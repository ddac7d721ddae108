#pragma once
// What activations are made of, in a wider type.

#include <cmath>

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

}  // namespace gradus::test
