#include "learn/learn.h"

// A deep net without shortcuts, and its backward by hand. About 12 lines.
//
//   h_0 = x        h_{l+1} = tanh(h_l W_l)        x [N, d], each W_l [d, d]
//   dh_l = (dh_{l+1} (1 - h_{l+1}^2)) W_l^T       (1 - h^2 is the derivative of tanh, elementwise)
//
// An example is a row here, so W_l multiplies from the right: it is the page's W transposed. The function is
// tanh, not relu, and layers count from 0.
//
// The gradient passes through one matrix after another, from the last layer to the first: a product.
//
// Forbidden: backward and grad. Useful: matmul, tanh, W.t().

/// Returns h_0, h_1, ..., h_L.
std::vector<Tensor> forward(const Tensor& x, const std::vector<Tensor>& W) { return todo(x, W); }

/// Returns the sizes |dh_0|, ..., |dh_L| (norm over all elements), given dh_L.
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return todo(x, W, dh);
}
