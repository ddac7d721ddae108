#include "learn/learn.h"

// The product of the Hessian and a vector, power iteration, and the largest stable rate. About 10 lines.
//
// H is the matrix of the second derivatives of the loss at w, and v is a constant. How do two gradients give
// H v, without H?
//
// Power iteration multiplies a random v by H again and again, and scales it to length 1 each time. How does
// the last v give s, the eigenvalue of largest absolute value, with its sign?
//
// Gradient descent with momentum steps by m <- momentum m + gradient, then w <- w - rate m. Up to which rate
// does a small displacement along v not grow, for s > 0?
//
//   using Loss = std::function<Tensor(const Tensor& w)>;
//   given in examples/course/29_curvature/given.h
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
