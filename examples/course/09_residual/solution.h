#include "learn/learn.h"

Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y = y + matmul(a, y);
  return y;
}

Tensor residual_jacobian(const std::vector<Tensor>& A) {
  const Tensor one = eye(A[0].size(0));
  Tensor J = one;
  for (const Tensor& a : A) J = matmul(one + a, J);
  return J;
}
