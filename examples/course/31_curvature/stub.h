#include "learn/learn.h"

// The product of the Hessian and a vector, power iteration, and the largest stable rate. About 10 lines.
//
//   H v = d(g . v)/dw       g = dL/dw, on the tape; v is a constant
//
//   power iteration:        v <- H v / |H v|, from a random v
//   s = v . H v             for |v| = 1: the eigenvalue of largest absolute value, with its sign
//
//   largest stable rate = 2 (1 + momentum) / s
//
//   using Loss = std::function<Tensor(const Tensor& w)>;
//   examples/course/31_curvature/given.h
//
// The gradients are values: nothing is added to w.grad().
//
// Forbidden: hvp, sharpness, hessian, jacobian, jvp, vjp and nn.
// Useful: grad(y, {w}, {.create_graph = true})[0], detach, norm, randn(w.shape()).

/// Returns H v, of w's shape. w requires grad.
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) { return todo(loss, w, v); }

/// Returns s after `steps` steps of the iteration.
double top_curvature(const Loss& loss, const Tensor& w, int steps) { return todo(loss, w, steps); }

double largest_rate(double s, double momentum) { return todo(s, momentum); }
