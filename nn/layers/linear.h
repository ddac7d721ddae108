#pragma once
#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

using gradus::activate;
using gradus::Activation;

struct LinearOptions {
  bool bias = true;  // adds b
};

/// y = x W^T + b for x [..., in] -> [..., out]. `nn::Linear fc(64, 10, {.bias = false});`
/// At the start weight and bias are U(-1/sqrt(in), 1/sqrt(in)), as PyTorch's.
struct Linear : Module {
  Linear(std::int64_t in, std::int64_t out, const LinearOptions& options = {});
  Linear(std::int64_t, std::int64_t, bool) = delete;  // name it: nn::Linear(4, 4, {.bias = false})
  /// Shares another module's parameter [out, in], which both then train: a head tied to an embedding,
  /// `nn::Linear head = add("head", nn::Linear(embedding.weight, {.bias = false}));`
  explicit Linear(const Parameter& weight, const LinearOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  /// activate(activation, (*this)(x)).
  Tensor operator()(const Tensor& x, Activation activation) const;

  Parameter weight;  // [out, in]
  Parameter bias;    // [out]; undefined without
};

}  // namespace gradus::nn
