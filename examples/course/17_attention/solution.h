#include "learn/learn.h"

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal) {
  const double D = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(D);
  Tensor hidden = !mask;
  if (causal) hidden = hidden | (triu(ones_like(scores), 1) != 0);
  const Tensor weights = softmax(masked_fill(scores, hidden, -INFINITY), -1);
  return matmul(masked_fill(weights, hidden, 0.0), v);  // a row without a key is NaN before
}
