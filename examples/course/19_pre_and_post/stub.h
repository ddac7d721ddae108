#include "learn/learn.h"

// A Pre-LN stack and a Post-LN stack. About 10 lines.
//
//   Pre-LN:   x <- x + f(LN(x))     for each sublayer f, and after the last one  y = LN(x)
//   Post-LN:  x <- LN(x + f(x))     for each sublayer f, and after the last one  y = x
//
// LN is layer_norm(x), without gain and bias. A Pre-LN stack needs the final norm; a Post-LN stack has it
// already.
//
//   using Sublayer = std::function<Tensor(const Tensor&)>;        given in
//   examples/course/19_pre_and_post/given.h
//
// Forbidden: nn.

/// Returns y [..., d], given x [..., d].
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) { return todo(x, sublayers); }

/// Returns y [..., d], given x [..., d].
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) { return todo(x, sublayers); }
