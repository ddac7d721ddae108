#include "learn/learn.h"

double rate(int step, int warmup, int total, double peak, double floor) {
  if (step <= warmup) return peak * step / warmup;
  const double q = static_cast<double>(step - warmup) / (total - warmup);
  return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * q)) / 2;
}

std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  double squares = 0;
  for (const Tensor& x : g) squares += x.square().sum().item();
  const double factor = std::min(1.0, limit / std::sqrt(squares));
  std::vector<Tensor> clipped;
  for (const Tensor& x : g) clipped.push_back(x * factor);
  return clipped;
}
