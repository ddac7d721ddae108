#include "learn/learn.h"

Tensor rotate(const Tensor& x, double base) {
  const std::int64_t D = x.size(1);
  const Tensor speed = (arange(D / 2).to(f64) * (-2 * std::log(base) / static_cast<double>(D))).exp();
  const Tensor angle = outer(arange(x.size(0)).to(f64), speed), a = x.slice(1, 0, D / 2),
               b = x.slice(1, D / 2);
  return cat({a * cos(angle) - b * sin(angle), a * sin(angle) + b * cos(angle)}, 1);
}

Tensor distance(std::int64_t T) { return arange(T).to(f64).unsqueeze(1) - arange(T).to(f64); }

Tensor window(std::int64_t T, std::int64_t w) {
  const Tensor d = distance(T);
  return (d >= 0).to(f64) * (d < static_cast<double>(w)).to(f64);
}

Tensor alibi(std::int64_t T, double m) { return tril(-m * distance(T)); }
