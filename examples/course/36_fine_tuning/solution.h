#include "learn/learn.h"

Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return linear(x, W.detach()) + linear(linear(x, A), B) * (alpha / static_cast<double>(A.size(0)));
}

Tensor merge(const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return W + matmul(B, A) * (alpha / static_cast<double>(A.size(0)));
}

double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) sum += after[i] - before[i];
  return sum / static_cast<double>(before.size());
}
