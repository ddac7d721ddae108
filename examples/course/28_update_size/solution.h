#include "learn/learn.h"

Constants deep_norm_constants(int L) { return {std::pow(2.0 * L, 0.25), std::pow(8.0 * L, -0.25)}; }

Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) { return layer_norm(alpha * x + fx); }

std::vector<double> admin(const std::vector<double>& variances) {
  std::vector<double> omega;
  double sum = 1;
  for (const double v : variances) omega.push_back(std::sqrt(sum)), sum += v;
  return omega;
}

double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  return (f(w + dw) - f(w)).norm().item();
}
