#include "learn/learn.h"

// DeepNorm, Admin, and the size of an update. About 12 lines.
//
//   DeepNorm (one stack of N blocks):   LN(alpha x + f(x))       alpha = (2N)^(1/4)      beta = (8N)^(-1/4)
//   Admin:                              omega_i = sqrt(1 + sum over j < i of Var[f_j])
//   update_size:                        |f(w + dw) - f(w)|: how far the output moves, norm over all elements
//
// alpha multiplies the shortcut, and beta scales initial weights: it is not part of the forward. Admin's
// omega also multiplies the shortcut; the 1 is the variance of the input, and the branches' variances come
// from one batch.
//
//   struct Constants { double alpha, beta; };        given in examples/course/22_update_size/given.h
//
// Forbidden: nn. layer_norm is allowed.

Constants deep_norm_constants(int N) { return todo(N); }

/// fx is f(x).
Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) { return todo(x, fx, alpha); }

/// Returns omega_0, omega_1, ..., one for each variance.
std::vector<double> admin(const std::vector<double>& variances) { return todo(variances); }

double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  return todo(f, w, dw);
}
