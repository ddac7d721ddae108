#pragma once
// B2T connection (Takase et al. 2022, arXiv 2206.00330): Post-LN, and a shortcut from the bottom of a block
// past all its norms but the last.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

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

/// These blocks: `.placement = nn::b2t()`.
Placement b2t();

}  // namespace gradus::nn
