#pragma once
// The setting of Xiong et al. 2020, before training.

#include <cmath>
#include <functional>
#include <vector>

#include "gradus/core/creation.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/ops.h"

/// Every matrix is d x d with entries from N(0, 1/d). Queries and keys are 0, so attention averages.
struct Block {
  gradus::Tensor V, O, W1, W2;
  explicit Block(std::int64_t d) : V(matrix(d)), O(matrix(d)), W1(matrix(d)), W2(matrix(d)) {
    W2.requires_grad_();
  }
  static gradus::Tensor matrix(std::int64_t d) {
    return gradus::randn({d, d}) / std::sqrt(static_cast<double>(d));
  }
  gradus::Tensor attention(const gradus::Tensor& x) const {
    return gradus::linear(gradus::linear(x.mean(0, true), V), O).expand(x.shape());
  }
  gradus::Tensor ffn(const gradus::Tensor& x) const {
    return gradus::linear(gradus::relu(gradus::linear(x, W1)), W2);
  }
};

/// The loss of what leaves the stack.
using Loss = std::function<gradus::Tensor(const gradus::Tensor& y)>;

struct Measured {
  std::vector<double> sizes;  // one for each block
  double gradient = 0;
};
