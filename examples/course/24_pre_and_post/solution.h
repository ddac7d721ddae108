#include "learn/learn.h"

Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y + f(layer_norm(y));
  return layer_norm(y);
}

Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = layer_norm(y + f(y));
  return y;
}
