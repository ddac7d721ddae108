#include "learn/learn.h"

using Function = std::function<Tensor(const Tensor&)>;

Tensor numeric_gradient(const Function& f, const Tensor& x, double h) {
  Tensor dx = zeros_like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    Tensor step = zeros_like(x);
    step[i] = h;
    dx[i] = (f(x + step).item() - f(x - step).item()) / (2 * h);
  }
  return dx;
}

Function weighted_sum(const Function& f, const Tensor& weights) {
  return [f, weights](const Tensor& x) { return (weights * f(x)).sum(); };
}
