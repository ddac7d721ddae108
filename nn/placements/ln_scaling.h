#pragma once
// LayerNorm scaling (Sun et al. 2025, arXiv 2502.05795): Pre-LN whose branches read less the deeper they
// stand. (The paper leaves out GPT-2's smaller initial projections with it:
// GPTOptions::residual_init_scaling.)

#include <cmath>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + f(LN(x) / sqrt(l)), l the number of the block, from 1.
struct ScaledPreLN : Module {
  explicit ScaledPreLN(const BlockOptions& options)
      : norm(add("", options.new_norm())), scale_(1 / std::sqrt(static_cast<double>(options.layer + 1))) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + f(norm(x) * scale_); }
  Norm norm;  // before the branch

 private:
  double scale_;
};

/// Blocks of ScaledPreLN, with a norm after the last: `.placement = nn::ln_scaling()`.
Placement ln_scaling();

}  // namespace gradus::nn
