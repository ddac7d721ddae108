#include "learn/learn.h"

Tensor sigma(const Tensor& x, double eps) {
  return ((x - x.mean(-1, true)).square().mean(-1, true) + eps).sqrt();
}

Tensor norm(const Tensor& x, double eps) { return (x - x.mean(-1, true)) / sigma(x, eps); }

Tensor norm_backward(const Tensor& x, const Tensor& dy, double eps) {
  const Tensor y = norm(x, eps);
  return (dy - dy.mean(-1, true) - y * (dy * y).mean(-1, true)) / sigma(x, eps);
}
