#include "learn/learn.h"

// Several heads, and QK-norm. About 12 lines.
//
// q, k and v are [B, H, T, D]: D is the size of one head, and C = H D. `scores` returns [B, H, T, T],
// scaled as in chapter 17. `heads` attends with each head, without a mask, and returns [B, T, C]: head h in
// channels h D to h D + D - 1. `qk_norm_scores` returns the scores after an RMS norm, without eps and gain,
// of each query and each key of each head.
//
// Which size belongs under the root? Over which axis do the weights sum to 1? In which order must the axes
// stand before heads and channels become one axis?
//
// With QK-norm no score exceeds sqrt(D), however large q and k are.
//
// Forbidden: scaled_dot_product_attention, attention_weights, self_attention_packed, rms_norm, normalize and
// nn.

Tensor scores(const Tensor& q, const Tensor& k) {
  return todo(q, k);
}

Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  return todo(q, k, v);
}

Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return todo(q, k);
}
