#include "learn/learn.h"

// One head of attention. About 8 lines.
//
//   attention(q, k, v) = softmax(q k^T / sqrt(D) + mask) v          q, k [T, D], v [T, Dv]
//
// Row i of the scores belongs to query i, column j to key j. The softmax runs over the keys. With `causal`
// the mask is -infinity where j > i: a position sees itself and earlier positions, and nothing after it.
//
// Forbidden: scaled_dot_product_attention, attention_weights, self_attention_packed and nn. Useful: matmul,
// k.t(), softmax(x, axis), triu, masked_fill.

/// Returns [T, Dv].
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return todo(q, k, v, causal);
}
