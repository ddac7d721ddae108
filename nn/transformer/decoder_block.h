#pragma once
// The decoder side of a Transformer that has an encoder: blocks with a second attention, over the encoder's
// output, called memory. Parts and names are those of PyTorch's nn.TransformerDecoderLayer.

#include "gradus/nn/transformer/block.h"

namespace gradus::nn {

/// Masks of the self-attention and of the attention over memory:
/// `decoder(x, memory, {.memory = {.key_padding_mask = padding}})`
struct DecoderMasks {
  AttentionMasks self = {};    // of the self-attention
  AttentionMasks memory = {};  // of the attention over memory
};

/// The three branches of a decoder block, each with its dropout. The self-attention is causal unless the
/// options say otherwise.
struct DecoderBranches : Module {
  DecoderBranches(const std::string& kind, const BlockOptions& options);

  MultiheadAttention self_attn, multihead_attn;  // over itself, and over memory
  FFN ffn;                                       // its keys are at the block's level: linear1, linear2
  Dropout dropout1, dropout2, dropout3;          // on the output of each sublayer

 protected:
  void expect_inputs(const Tensor& x, const Tensor& memory) const;
};

/// The parts of the two decoder blocks.
struct DecoderBlockParts : DecoderBranches {
  DecoderBlockParts(const std::string& kind, const BlockOptions& options);

  Norm norm1, norm2, norm3;  // of each sublayer
};

/// x [B, T, C], memory [B, Tm, C] -> [B, T, C], norms on the branches. With a cache x follows the positions
/// it holds, and memory is what it was at the first call: see MultiheadAttention.
struct PreLNDecoderBlock : DecoderBlockParts {
  explicit PreLNDecoderBlock(const BlockOptions& options) : DecoderBlockParts("PreLNDecoderBlock", options) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_inputs(x, memory);
    const Tensor h = x + dropout1(self_attn(norm1(x), masks.self, cache));  // x + SelfAttn(LN(x))
    const Tensor g =
        h + dropout2(multihead_attn(norm2(h), memory, masks.memory, cache));  // h + CrossAttn(LN(h), m)
    return report(g + dropout3(ffn(norm3(g))));                               // g + FFN(LN(g))
  }
};

/// The same with norms after the additions.
struct PostLNDecoderBlock : DecoderBlockParts {
  explicit PostLNDecoderBlock(const BlockOptions& options)
      : DecoderBlockParts("PostLNDecoderBlock", options) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_inputs(x, memory);
    const Tensor h = norm1(x + dropout1(self_attn(x, masks.self, cache)));  // LN(x + SelfAttn(x))
    const Tensor g =
        norm2(h + dropout2(multihead_attn(h, memory, masks.memory, cache)));  // LN(h + CrossAttn(h, m))
    return report(norm3(g + dropout3(ffn(g))));                               // LN(g + FFN(g))
  }
};

}  // namespace gradus::nn
