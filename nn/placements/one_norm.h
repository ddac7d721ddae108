#pragma once
// One norm for each branch f of the stream x, or none:
//
//   no norm   x + f(x)        He et al. 2016, arXiv 1512.03385
//   Pre-LN    x + f(LN(x))    Xiong et al. 2020, arXiv 2002.04745; GPT-2: Radford et al. 2019
//   Post-LN   LN(x + f(x))    Vaswani et al. 2017, arXiv 1706.03762
//   OLMo 2    x + LN(f(x))    Walsh et al. 2025, arXiv 2501.00656
//   Mix-LN    Post-LN first   Li et al. 2024, arXiv 2412.13795

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + f(x).
struct NoNorm : Module {
  explicit NoNorm(const BlockOptions&) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + f(x); }
};

/// x + f(LN(x)): what PreLNBlock has twice.
struct PreLN : Module {
  explicit PreLN(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + f(norm(x)); }
  Norm norm;  // before the branch
};

/// LN(x + f(x)): what PostLNBlock has twice.
struct PostLN : Module {
  explicit PostLN(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return norm(x + f(x)); }
  Norm norm;  // of the sum
};

/// x + LN(f(x)).
struct OutputNorm : Module {
  explicit OutputNorm(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + norm(f(x)); }
  Norm norm;  // of the branch's output
};

/// Blocks without any norm: `.placement = nn::no_norm()`.
Placement no_norm();
/// x + f(LN(x)) and a final norm: PreLNBlock, PreLNDecoderBlock. The default.
Placement pre_ln();
/// LN(x + f(x)): PostLNBlock, PostLNDecoderBlock.
Placement post_ln();
/// Blocks of OutputNorm and a final norm; with BlockOptions::qk_norm, as in OLMo 2, norms on queries and keys
/// too.
Placement olmo2();
/// The first floor(post_share layers) blocks are Post-LN, the others Pre-LN; the paper takes a quarter, so
/// that a stack of fewer than 4 blocks is all Pre-LN. The final norm is there for every share. Throws unless
/// post_share is in [0, 1].
Placement mix_ln(double post_share = 0.25);

}  // namespace gradus::nn
