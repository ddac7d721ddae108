#pragma once
// OLMo 2 (Walsh et al. 2025, arXiv 2501.00656): norms on what the branches give; with BlockOptions::qk_norm,
// as there, on queries and keys too.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + LN(f(x)).
struct OutputNorm : Module {
  explicit OutputNorm(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + norm(f(x)); }
  Norm norm;  // of the branch's output
};

/// Blocks of OutputNorm, with a norm after the last: `.placement = nn::olmo2()`.
Placement olmo2();

}  // namespace gradus::nn
