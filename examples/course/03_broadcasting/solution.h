#include "learn/learn.h"

Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(0);
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.sum(axis, true);
  return dx;
}

std::pair<Tensor, Tensor> times_backward(const Tensor& a, const Tensor& b, const Tensor& dy) {
  return {sum_to(dy * b, a.shape()), sum_to(dy * a, b.shape())};
}
