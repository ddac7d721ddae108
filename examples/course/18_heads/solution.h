#include "learn/learn.h"

Tensor scores(const Tensor& q, const Tensor& k) {
  return matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
}

Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor y = matmul(softmax(scores(q, k), -1), v);
  return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}

Tensor rms_one(const Tensor& x) { return x / x.square().mean(-1, true).sqrt(); }

Tensor qk_norm_scores(const Tensor& q, const Tensor& k) { return scores(rms_one(q), rms_one(k)); }
