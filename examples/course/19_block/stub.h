#include "learn/learn.h"

// Dropout, the feed-forward network, and a whole Pre-LN block. About 10 lines.
//
// `drop` is dropout. In training an element is kept with probability 1 - p (keep is 1) or becomes 0 (keep
// is 0), and the expected value of the result must be x: what does that ask of the kept elements? In
// inference the result is x itself.
//
// `ffn` has two linear maps with biases, and one gelu: x [T, C], W1 [C, 4C], b1 [4C], W2 [4C, C], b2 [C]. A
// token is a row of x, so both matrices are the page's W_1 [F, C] and W_2 [C, F] transposed, with F = 4C.
//
// `block` is Pre-LN: attention, then the feed-forward network, each with its norm and its residual
// connection. What does each norm read? LN is layer_norm without gain and bias. The block has no dropout,
// and no norm at its end.
//
// Forbidden: dropout and nn. Useful: gelu, matmul, layer_norm.

/// keep has x's shape: 0 or 1 for each element, drawn by the caller.
Tensor drop(const Tensor& x, const Tensor& keep, double p, bool training) {
  return todo(x, keep, p, training);
}

Tensor ffn(const Tensor& x, const Tensor& W1, const Tensor& b1, const Tensor& W2, const Tensor& b2) {
  return todo(x, W1, b1, W2, b2);
}

/// attention and feed_forward are functions from x [T, C] to [T, C].
Tensor block(const Tensor& x, const std::function<Tensor(const Tensor&)>& attention,
             const std::function<Tensor(const Tensor&)>& feed_forward) {
  return todo(x, attention, feed_forward);
}
