#pragma once
// Several norms for a branch, or a shortcut past some of them:
//
//   Peri-LN     x + LN(f(LN(x)))    Kim et al. 2025, arXiv 2502.02732, without its optional norm of the
//                                   embedding; Sandwich-LN: Ding et al. 2021, arXiv 2105.13290
//   HybridNorm  y = x + Attn(LN(q), LN(k), LN(v)), LN(y) + FFN(LN(y))    Zhuo et al. 2025, arXiv 2503.04598
//   B2T         y = LN(x + Attn(x)), LN(x + y + FFN(y))                  Takase et al. 2022, arXiv 2206.00330

#include "gradus/nn/placements/one_norm.h"

namespace gradus::nn {

/// x + LN(f(LN(x))): keys norm1.before.weight, norm1.after.weight, ...
struct PeriLN : Module {
  explicit PeriLN(const BlockOptions& options)
      : before(add("before", options.new_norm())), after(add("after", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + after(f(before(x))); }
  Norm before, after;  // of what comes in; of what the branch gives
};

/// LN(y) + f(LN(y)).
struct NormedResidual : Module {
  explicit NormedResidual(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& y, const Branch& f) const {
    const Tensor h = norm(y);
    return h + f(h);
  }
  Norm norm;  // of what comes in
};

/// y = LN(x + Attn(x)), LN(x + y + FFN(y)). The parts and keys of PostLNBlock.
struct B2TBlock : BlockParts {
  explicit B2TBlock(const BlockOptions& options) : BlockParts("B2TBlock", options) {}

  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_input(x);
    const Tensor y = norm1(x + dropout1(self_attn(x, masks, cache)));  // LN(x + Attn(x))
    return report(norm2(x + y + dropout2(ffn(y))));                    // LN(x + y + FFN(y))
  }
};

/// The same with the attention over memory in between: LN(x + z + FFN(z)), z = LN(y + CrossAttn(y, m)).
struct B2TDecoderBlock : DecoderBlockParts {
  explicit B2TDecoderBlock(const BlockOptions& options) : DecoderBlockParts("B2TDecoderBlock", options) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_inputs(x, memory);
    const Tensor y = norm1(x + dropout1(self_attn(x, masks.self, cache)));  // LN(x + SelfAttn(x))
    const Tensor z =
        norm2(y + dropout2(multihead_attn(y, memory, masks.memory, cache)));  // LN(y + CrossAttn(y, m))
    return report(norm3(x + z + dropout3(ffn(z))));                           // LN(x + z + FFN(z))
  }
};

/// Blocks of PeriLN and a final norm: `.placement = nn::peri_ln()`.
Placement peri_ln();
/// Attention joined by NoNorm, with qk_norm and v_norm, the FFN by NormedResidual, and a final norm.
Placement hybrid_norm();
/// Blocks of B2TBlock, decoders of B2TDecoderBlock: `.placement = nn::b2t()`.
Placement b2t();

}  // namespace gradus::nn
