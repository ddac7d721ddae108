#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

struct LayerNormOptions {
  double eps = 1e-5;   // inside the square root
  bool affine = true;  // with gain and bias
  bool bias = true;    // false: gain only
};

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, x [..., C] (Ba et al. 2016).
/// Starts with gain 1 and bias 0. `nn::LayerNorm norm(64, {.eps = 1e-12});`
struct LayerNorm : Module {
  explicit LayerNorm(std::int64_t dim, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;  // [C]; undefined where the options say so

 private:
  std::int64_t dim_;
  double eps_;
};

struct RMSNormOptions {
  double eps = 1e-6;
  bool affine = true;
};

/// x / sqrt(mean(x^2) + eps) * weight over the last axis, x [..., C] (Zhang & Sennrich 2019).
struct RMSNorm : Module {
  explicit RMSNorm(std::int64_t dim, const RMSNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight;  // [C]; undefined where the options say so

 private:
  std::int64_t dim_;
  double eps_;
};

}  // namespace gradus::nn
