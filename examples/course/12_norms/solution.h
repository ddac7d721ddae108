#include "learn/learn.h"

Tensor batch_norm(const Tensor& x, Running& running, bool training, double eps) {
  if (!training) return (x - running.mean) / (running.var + eps).sqrt();
  const double N = static_cast<double>(x.size(0));
  const Tensor m = x.mean(0), v = (x - m).square().mean(0);
  running.mean = 0.9 * running.mean + 0.1 * m.detach();
  running.var = 0.9 * running.var + 0.1 * v.detach() * (N / (N - 1));
  return (x - m) / (v + eps).sqrt();
}

Tensor rms(const Tensor& x, double eps) { return x / (x.square().mean(-1, true) + eps).sqrt(); }
