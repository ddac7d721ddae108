#include "learn/learn.h"

// Fine-tuning with few weights (LoRA), and a measure of forgetting. About 8 lines.
//
//   lora:      y = x W^T + (alpha / r) (x A^T) B^T      W [out, in] is frozen; A [r, in], B [out, r] are
//   trained merge:     W + (alpha / r) B A                      the same map as one matrix, for use after
//   training forgotten: mean over the old examples of  after - before            the losses on the old task
//
// B starts at 0, so the model is initially unchanged.
//
// Forbidden: nn. Useful: linear(x, W) is x W^T; matmul; W.detach().

/// No gradient reaches W; x, A and B get theirs.
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return todo(x, W, A, B, alpha);
}

Tensor merge(const Tensor& W, const Tensor& A, const Tensor& B, double alpha) { return todo(W, A, B, alpha); }

/// Losses on examples of the old task, before and after fine-tuning on the new one.
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  return todo(before, after);
}
