#include "learn/learn.h"

std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  Tensor a = tensor(0.0), b = tensor(0.0);
  for (int step = 0; step < steps; ++step) {
    a.requires_grad_(), b.requires_grad_();
    mse_loss(a * x + b, y).backward();
    a = a.detach() - lr * a.grad(), b = b.detach() - lr * b.grad();
  }
  return {a.item(), b.item()};
}
