#include "learn/learn.h"

Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w}, {.create_graph = true})[0];
  return grad((g * v.detach()).sum(), {w})[0];
}

double top_curvature(const Loss& loss, const Tensor& w, int steps) {
  Tensor v = randn(w.shape());
  for (int step = 0; step < steps; ++step) {
    v = product(loss, w, v);
    v = v / v.norm();
  }
  return (v * product(loss, w, v)).sum().item();
}

double largest_rate(double s, double momentum) { return 2 * (1 + momentum) / s; }
