#include "learn/learn.h"

// Cross-attention in H heads over a padded memory, and the decoder's input for teacher forcing. About 15
// lines.
//
//   x [B, T, C]        the decoder's positions           memory [B, S, C]   the encoder's output
//   padding [B, S]     bool, true where a sentence has ended and memory holds only padding
//   wq, wk, wv [C, C]  a projection is matmul(tokens, w); head h has D = C / H of its channels, from h D on
//
// Which of the two texts gives the queries, the keys, the values? What is the shape of the scores, and over
// which of its axes do the weights of a query sum to 1? Which scores does the padding change, and at which
// point? Is anything else hidden?
//
// Forbidden: scaled_dot_product_attention, attention_weights, self_attention_packed and nn.
// Useful: matmul, reshape, transpose, unsqueeze, masked_fill(x, where, value), softmax(x, axis), cat, slice.

/// Returns [B, T, C]: the heads side by side, without an output projection.
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return todo(x, memory, padding, wq, wk, wv, H);
}

/// Returns the decoder's input [B, T] for the target [B, T], both i64, so that the output at each position
/// has to predict the target at that position. The id `start` begins every text.
Tensor decoder_input(const Tensor& target, std::int64_t start) { return todo(target, start); }
