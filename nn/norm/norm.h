#pragma once
#include <functional>

#include "gradus/nn/module/any_module.h"

namespace gradus::nn {

struct LayerNormOptions {
  double eps = 1e-5;   // inside the square root
  bool affine = true;  // with weight and bias
  bool bias = true;    // false: weight only
};

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, x [..., C] (Ba et al. 2016).
/// Starts with weight 1 and bias 0. `nn::LayerNorm norm(64, {.eps = 1e-12});`
struct LayerNorm : Module {
  explicit LayerNorm(std::int64_t dim, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;  // [C]; undefined if the options exclude them

 private:
  std::int64_t dim_;
  double eps_;
};

struct RMSNormOptions {
  double eps = 1e-6;   // in a block: BlockOptions::eps
  bool affine = true;  // with weight
};

/// x / sqrt(mean(x^2) + eps) * weight over the last axis, x [..., C] (Zhang & Sennrich 2019).
struct RMSNorm : Module {
  explicit RMSNorm(std::int64_t dim, const RMSNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight;  // [C]; undefined without affine

 private:
  std::int64_t dim_;
  double eps_;
};

/// Any norm of a stream, [..., C] -> [..., C]: one of the library's or a user's module.
using Norm = AnyModule<Tensor(const Tensor&)>;

/// The options of a norm in a block.
struct NormOptions {
  std::int64_t d_model = 0;  // C
  double eps = 1e-5;         // inside the square root
  bool bias = true;          // with a bias, if the norm has one
};

/// Makes a norm with new parameters.
using MakeNorm = std::function<Norm(const NormOptions&)>;

/// Makes a norm N for d_model channels, with eps and bias if N has them: an option of blocks.
/// `nn::PreLNBlock block({.d_model = 64, .heads = 4, .norm = nn::make_norm<nn::RMSNorm>});`
/// Calls N(options), or N(d_model, {...}) with those of .eps and .bias that its options have, else
/// N(d_model), or N(): `make_norm<nn::Identity>` means no norm.
template <std::derived_from<Module> N>
Norm make_norm(const NormOptions& o) {
  if constexpr (requires { N(o); })
    return N(o);
  else if constexpr (requires { N(o.d_model, {.eps = o.eps, .bias = o.bias}); })
    return N(o.d_model, {.eps = o.eps, .bias = o.bias});
  else if constexpr (requires { N(o.d_model, {.bias = o.bias, .eps = o.eps}); })
    return N(o.d_model, {.bias = o.bias, .eps = o.eps});
  else if constexpr (requires { N(o.d_model, {.eps = o.eps}); })
    return N(o.d_model, {.eps = o.eps});
  else if constexpr (requires { N(o.d_model, {.bias = o.bias}); })
    return N(o.d_model, {.bias = o.bias});
  else if constexpr (requires { N(o.d_model); })
    return N(o.d_model);
  else
    return N();
}

}  // namespace gradus::nn
