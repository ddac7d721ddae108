#include "learn/learn.h"

Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.reshape({x.size(0), x.size(1), H, x.size(2) / H}).transpose(1, 2);
}

Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const Tensor q = split_heads(matmul(x, wq), H);
  const Tensor k = split_heads(matmul(memory, wk), H), v = split_heads(matmul(memory, wv), H);
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor weights = softmax(masked_fill(scores, padding.unsqueeze(1).unsqueeze(1), -INFINITY), -1);
  return matmul(weights, v).transpose(1, 2).reshape(x.shape());
}

Tensor decoder_input(const Tensor& target, std::int64_t start) {
  return cat({full({target.size(0), 1}, start, i64), target.slice(1, 0, target.size(1) - 1)}, 1);
}
