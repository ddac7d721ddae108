#include "learn/learn.h"

// Several heads, and QK-norm. About 12 lines.
//
//   scores(q, k):   [B, H, T, T] = q k^T / sqrt(D)         q, k [B, H, T, D]: D is the size of one head, not C
//   heads(q, k, v): softmax(scores) v  for each head, then [B, H, T, D] -> [B, T, C]: head h in channels h D ..
//   qk_norm(q, k):  scores of q / rms(q) and k / rms(k), with rms(x) = sqrt(mean(x^2)) over the D channels of a head
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
