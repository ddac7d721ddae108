#include "learn/learn.h"

// DeepNorm, Admin, and the size of an update. About 12 lines.
//
// DeepNorm (Wang et al. 2022) has two constants, here for one stack of L blocks, which has N = 2L branches:
//
//   alpha = (2L)^(1/4)        beta = (8L)^(-1/4)
//
// It is Post-LN, except that alpha multiplies the shortcut. beta scales initial weights: it is not part of
// the forward.
//
// Admin's (Liu et al. 2020) omega_i multiplies the shortcut of branch i, counted from 0. Its square is the
// variance of the sum of the input and all branches before branch i, which count as independent. The input
// has the variance 1; the branches' variances come from one batch. What is omega_i?
//
// The size of an update dw of the weights w is how far it moves the output f: a norm over all elements.
//
//   struct Constants { double alpha, beta; };        given in examples/course/28_update_size/given.h
//
// Forbidden: nn. layer_norm is allowed.

Constants deep_norm_constants(int L) { return todo(L); }

/// fx is f(x).
Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) { return todo(x, fx, alpha); }

/// Returns omega_0, omega_1, ..., one for each variance.
std::vector<double> admin(const std::vector<double>& variances) { return todo(variances); }

double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  return todo(f, w, dw);
}
