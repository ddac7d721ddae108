#include "learn/learn.h"

// Gradient checking by central differences. About 9 lines.
//
//   df/dx_i ~ (f(x + h e_i) - f(x - h e_i)) / 2h           e_i is 1 at element i and 0 elsewhere
//
// f returns a tensor with one element. x is 1-d and must have the same values afterwards.
//
// A check of a function with many outputs needs one number: the sum of its outputs, each times a random
// weight.
//
// Forbidden: gradcheck, backward and grad; do not use the tape. Useful: zeros_like, item(), x[i], randn_like.

using Function = std::function<Tensor(const Tensor&)>;

/// Returns the gradient [n] of f at x [n].
Tensor numeric_gradient(const Function& f, const Tensor& x, double h) { return todo(f, x, h); }

/// Makes a function with one output from a function with many: sum_k weights_k f(x)_k. weights has the shape
/// of f(x).
Function weighted_sum(const Function& f, const Tensor& weights) { return todo(f, weights); }
