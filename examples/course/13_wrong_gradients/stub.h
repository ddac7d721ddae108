#include "learn/learn.h"

// A wrong gradient on purpose, and how wrong it is. About 8 lines.
//
//   forward:   y = (x - mean) / sigma                sigma = sqrt(var + eps), var biased, over the last axis
//   backward:  dx = (dy - mean(dy)) / sigma          sigma is treated as a constant: this is the mistake
//   cosine(g, h) = sum(g h) / (|g| |h|)              over all elements
//
// A wrong gradient h still goes down the slope if its cosine with the right one is above 0.
//
// Leave the backward to the tape: detach() gives the same values without their node on the tape.
//
// Forbidden: layer_norm, record, cosine_similarity and nn.

Tensor norm_with_constant_sigma(const Tensor& x, double eps) { return todo(x, eps); }

double cosine(const Tensor& g, const Tensor& h) { return todo(g, h); }
