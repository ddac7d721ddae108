#include "learn/learn.h"

Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  moments.m = b1 * moments.m + (1 - b1) * g;
  moments.v = b2 * moments.v + (1 - b2) * g.square();
  const Tensor mhat = moments.m / (1 - std::pow(b1, t)), vhat = moments.v / (1 - std::pow(b2, t));
  return w - lr * mhat / (vhat.sqrt() + eps);
}

double noam(int t, int d, int warmup) {
  return std::pow(d, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(warmup, -1.5));
}
