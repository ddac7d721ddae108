#include "learn/learn.h"

// A stack of residual connections, and its Jacobian. About 8 lines.
//
//   x_{l+1} = x_l + A_l x_l            l = 0 .. L - 1, each A_l is a matrix [d, d]
//   dx_L/dx_0 = (I + A_{L-1}) ... (I + A_1)(I + A_0)
//
// The branch of layer l is linear here, f_l(x) = A_l x, so the page's J_1, ..., J_L are A_0, ..., A_{L-1}.
//
// The last layer is the leftmost factor of the product. I + the sum of the A_l is only an approximation for
// small A_l.
//
// Forbidden: nothing. Useful: matmul, eye(d).

/// Returns x_L [d], given x_0 [d].
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) { return todo(x, A); }

/// Returns dx_L/dx_0 [d, d].
Tensor residual_jacobian(const std::vector<Tensor>& A) { return todo(A); }
