#include "learn/learn.h"

// Layer norm, forward and backward. About 8 lines.
//
// For one token x of d channels (the last axis; all other axes are a batch):
//
//   y = (x - mean) / sigma        sigma = sqrt(var + eps)        var = sum_i (x_i - mean)^2 / d
//   dx = (dy - mean(dy) - y mean(dy y)) / sigma
//
// There is no gain and no bias. Forbidden: layer_norm, rms_norm, normalize, var, std, backward, grad and nn.
// Useful: x.mean(-1, true), square, sqrt.

/// Returns y for x [..., d].
Tensor norm(const Tensor& x, double eps) {
  return todo(x, eps);
}

/// Returns dL/dx, given x [..., d] and dy = dL/dy of the same shape.
Tensor norm_backward(const Tensor& x, const Tensor& dy, double eps) {
  return todo(x, dy, eps);
}
