#include "learn/learn.h"

// Gradient descent, with the tape. About 10 lines.
//
//   loss = mean_i (a x_i + b - y_i)^2          a <- a - lr dloss/da          b <- b - lr dloss/db
//
// Both parameters move in the same step: both gradients belong to the old a and b. Gradients of a leaf add up
// from one backward to the next, so clear them before each step.
//
// Forbidden: optim and nn. Useful: tensor(0.0), requires_grad_(), backward(), grad(), zero_grad(), mse_loss,
// item(), NoGrad. Without NoGrad, a - lr * gradient is no leaf: it gets no gradient of its own.

/// Returns a and b after `steps` steps from a = b = 0. x and y are [n].
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return todo(x, y, lr, steps);
}
