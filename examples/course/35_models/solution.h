#include "learn/learn.h"

Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return matmul(silu(matmul(x, Wg)) * matmul(x, Wu), Wd);
}

Tensor serve(const Tensor& k, std::int64_t H) { return repeat_interleave(k, H / k.size(1), 1); }

Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor& bias) { return matmul(q, k.t()) + bias; }
