#include "learn/learn.h"

// A Pre-LN stack and a Post-LN stack. About 10 lines.
//
// Both apply the same sublayers, one after the other, each with a residual connection and one norm. In
// Pre-LN the norm is on the branch, and the shortcut is untouched. In Post-LN it is on the stream, after
// the addition. What does each sublayer read, and what leaves the stack: which of the two stacks needs one
// more norm after its last sublayer?
//
// LN is layer_norm(x), without gain and bias.
//
//   using Sublayer = std::function<Tensor(const Tensor&)>;
//   given in examples/course/24_pre_and_post/given.h
//
// Forbidden: nn.

/// Returns y [..., d], given x [..., d].
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) { return todo(x, sublayers); }

/// Returns y [..., d], given x [..., d].
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) { return todo(x, sublayers); }
