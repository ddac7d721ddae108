#pragma once
// Norms on either side of the branch, none on the stream: Sandwich-LN (CogView; Ding et al. 2021, arXiv
// 2105.13290), Peri-LN (Kim et al. 2025, arXiv 2502.02732, without its optional norm of the embedding).

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + LN(f(LN(x))): keys norm1.before.weight, norm1.after.weight, ...
struct PeriLN : Module {
  explicit PeriLN(const BlockOptions& options)
      : before(add("before", options.new_norm())), after(add("after", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + after(f(before(x))); }
  Norm before, after;  // of what comes in; of what the branch gives
};

/// Blocks of PeriLN, with a norm after the last: `.placement = nn::peri_ln()`.
Placement peri_ln();

}  // namespace gradus::nn
