#include "learn/learn.h"

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  const double D = static_cast<double>(q.size(-1));
  Tensor scores = matmul(q, k.t()) / std::sqrt(D);
  if (causal) scores = masked_fill(scores, triu(ones_like(scores), 1) != 0, -INFINITY);
  return matmul(softmax(scores, -1), v);
}
