#include "learn/learn.h"

// One head of attention. About 8 lines.
//
// q and k [T, D] are the queries and keys of T tokens, v [T, Dv] their values. Each query is compared with
// the keys. How well they match decides the weights with which the query averages the values. With `causal`
// a position sees itself and earlier positions, and nothing after it.
//
// Over which axis do the weights of a query sum to 1? How does the size of a score stay the same for every
// D? Which scores does the mask change, to what, and before or after the softmax?
//
// Forbidden: scaled_dot_product_attention, attention_weights, self_attention_packed and nn. Useful: matmul,
// k.t(), softmax(x, axis), triu, masked_fill.

/// Returns [T, Dv].
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return todo(q, k, v, causal);
}
