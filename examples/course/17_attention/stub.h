#include "learn/learn.h"

// Attention with a mask. About 10 lines.
//
// q and k [..., T, D] are the queries and keys of T tokens, v [..., T, Dv] their values. All other axes, such
// as texts and heads in [B, H, T, D], are a batch. Each query is compared with the keys of its own text and
// head. How well they match decides the weights with which the query averages the values.
//
// mask is bool, true where a query may see a key, and broadcasts to [..., T, T]. With `causal` a position
// also sees only itself and earlier positions. A query that sees no key has nothing to average: as in the
// library, its row of the result is 0, and not NaN.
//
// Over which axis do the weights of a query sum to 1? How does the size of a score stay the same for every
// D? Which scores does the mask change, to what, and before or after the softmax? What does the softmax make
// of a row in which all keys are hidden?
//
// Forbidden: scaled_dot_product_attention, attention_weights, self_attention_packed and nn. Useful: matmul,
// k.transpose(-2, -1), softmax(x, axis), triu, masked_fill(x, where, value); !a, a & b, a | b of bool
// tensors.

/// Returns [..., T, Dv].
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal) {
  return todo(q, k, v, mask, causal);
}
