#include "learn/learn.h"

// Fine-tuning with few weights (LoRA), and a measure of forgetting. About 8 lines.
//
// LoRA (Hu et al. 2021) freezes the matrix W [out, in] of a layer x W^T, and trains A [r, in] and B [out, r]
// beside it. Their part of the output goes through A, then through B, and is multiplied by alpha / r. merge
// returns the same map as one matrix, for use after training. What is that matrix?
//
// B starts at 0, so the model is initially unchanged.
//
// forgotten is how much the losses on the old task have risen, as a mean over the examples.
//
// Forbidden: nn. Useful: linear(x, W) is x W^T; matmul; detach().

/// No gradient reaches W; x, A and B get theirs.
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return todo(x, W, A, B, alpha);
}

Tensor merge(const Tensor& W, const Tensor& A, const Tensor& B, double alpha) { return todo(W, A, B, alpha); }

/// Losses on examples of the old task, before and after fine-tuning on the new one.
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  return todo(before, after);
}
