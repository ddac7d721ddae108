#include "learn/learn.h"

Tensor sandwich(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  return x + layer_norm(f(layer_norm(x)));
}

Tensor b2t(const Tensor& x, const std::function<Tensor(const Tensor&)>& attention,
           const std::function<Tensor(const Tensor&)>& ffn) {
  const Tensor y = layer_norm(x + attention(x));
  return layer_norm(x + y + ffn(y));
}

bool mix_is_post(int l, int L) { return l < L / 4; }
