#include "learn/learn.h"

Tensor drop(const Tensor& x, const Tensor& keep, double p, bool training) {
  return training ? x * keep / (1 - p) : x;
}

Tensor ffn(const Tensor& x, const Tensor& W1, const Tensor& b1, const Tensor& W2, const Tensor& b2) {
  return matmul(gelu(matmul(x, W1) + b1), W2) + b2;
}

Tensor block(const Tensor& x, const std::function<Tensor(const Tensor&)>& attention,
             const std::function<Tensor(const Tensor&)>& feed_forward) {
  const Tensor h = x + attention(layer_norm(x));
  return h + feed_forward(layer_norm(h));
}
