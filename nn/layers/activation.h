#pragma once
// Activations as modules, for use in a list; elsewhere call the functions: relu(x), gelu(x), ...

#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

/// max(x, 0)
struct ReLU : Module {
  ReLU() : Module("ReLU") {}
  Tensor operator()(const Tensor& x) const { return report(relu(x)); }
};

/// x Phi(x) (Hendrycks & Gimpel 2016); `nn::GELU(GeluForm::tanh)` is GPT-2's approximation.
struct GELU : Module {
  explicit GELU(GeluForm form = GeluForm::erf) : Module("GELU"), form_(form) {}
  Tensor operator()(const Tensor& x) const { return report(gelu(x, form_)); }

 private:
  GeluForm form_;
};

/// x sigmoid(x)
struct SiLU : Module {
  SiLU() : Module("SiLU") {}
  Tensor operator()(const Tensor& x) const { return report(silu(x)); }
};

/// tanh(x)
struct Tanh : Module {
  Tanh() : Module("Tanh") {}
  Tensor operator()(const Tensor& x) const { return report(tanh(x)); }
};

/// 1 / (1 + exp(-x))
struct Sigmoid : Module {
  Sigmoid() : Module("Sigmoid") {}
  Tensor operator()(const Tensor& x) const { return report(sigmoid(x)); }
};

}  // namespace gradus::nn
