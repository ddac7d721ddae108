#include "learn/learn.h"

Tensor norm_with_constant_sigma(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  const Tensor sigma = (centred.square().mean(-1, true) + eps).sqrt();
  return centred / sigma.detach();
}

double cosine(const Tensor& g, const Tensor& h) { return ((g * h).sum() / (g.norm() * h.norm())).item(); }
