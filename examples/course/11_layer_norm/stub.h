#include "learn/learn.h"

// Layer norm, forward and backward. About 8 lines.
//
// A token x has d channels: the last axis. All other axes are a batch. Layer norm gives each token the mean
// 0 and divides it by its standard deviation sigma. The variance is divided by d, not by d - 1, and eps is
// added to it, under the root.
//
// The backward gets dy = dL/dy. In which ways does one channel of x change the y of all channels of its
// token, and what does each of them add to dL/dx?
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
