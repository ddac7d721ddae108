#include "learn/learn.h"

// The backward of broadcasting. About 6 lines.
//
// y = a + b with shapes [3, 4] and [4] repeats b along the missing axis. The gradient of a repeated value is
// the sum over its repetitions:
//
//   sum_to(dy, shape): sums dy over the axes that `shape` lacks (in front), and over those where
//                      `shape` has size 1 (these stay, with size 1)
//
//   times_backward(a, b, dy):  y = a b,  da = sum_to(dy b, shape of a),  db = sum_to(dy a, shape of b)
//
// Forbidden: backward and grad. Useful: x.sum(axis), x.sum(axis, true), x.dim(), shape.size(), shape[axis].

Tensor sum_to(const Tensor& dy, const Shape& shape) { return todo(dy, shape); }

/// Returns da and db for y = a * b.
std::pair<Tensor, Tensor> times_backward(const Tensor& a, const Tensor& b, const Tensor& dy) {
  return todo(a, b, dy);
}
