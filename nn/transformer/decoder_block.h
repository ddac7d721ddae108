#pragma once
// The decoder side of a Transformer that has an encoder: blocks with a second attention, over the encoder's
// output, called memory. Parts and names are those of PyTorch's nn.TransformerDecoderLayer.

#include "gradus/nn/transformer/block.h"

namespace gradus::nn {

struct DecoderBlockOptions {
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t d_ff = 0;  // 0 means 4 d_model
  Activation activation = Activation::relu;
  bool gated = false;
  bool causal = true;  // in the self-attention
  double dropout = 0;
  bool bias = true;
  double eps = 1e-5;
};

/// Masks of the self-attention and of the attention over memory:
/// `decoder(x, memory, {.memory = {.key_padding_mask = padding}})`
struct DecoderMasks {
  AttentionMasks self = {};
  AttentionMasks memory = {};
};

struct DecoderBlockParts : Module {
  DecoderBlockParts(const char* kind, const DecoderBlockOptions& options);

  MultiheadAttention self_attn, multihead_attn;
  FFN ffn;  // its keys stand at the block's level: linear1, linear2
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

 protected:
  void expect_inputs(const Tensor& x, const Tensor& memory) const;
};

/// x [B, T, C], memory [B, Tm, C] -> [B, T, C], norms on the branches.
struct PreLNDecoderBlock : DecoderBlockParts {
  explicit PreLNDecoderBlock(const DecoderBlockOptions& options)
      : DecoderBlockParts("PreLNDecoderBlock", options) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {}) const {
    const Scope scope(path());
    expect_inputs(x, memory);
    const Tensor h = x + dropout1(self_attn(norm1(x), masks.self));                 // x + SelfAttn(LN(x))
    const Tensor g = h + dropout2(multihead_attn(norm2(h), memory, masks.memory));  // h + CrossAttn(LN(h), m)
    return g + dropout3(ffn(norm3(g)));                                             // g + FFN(LN(g))
  }
};

/// The same with norms after the additions.
struct PostLNDecoderBlock : DecoderBlockParts {
  explicit PostLNDecoderBlock(const DecoderBlockOptions& options)
      : DecoderBlockParts("PostLNDecoderBlock", options) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {}) const {
    const Scope scope(path());
    expect_inputs(x, memory);
    const Tensor h = norm1(x + dropout1(self_attn(x, masks.self)));                 // LN(x + SelfAttn(x))
    const Tensor g = norm2(h + dropout2(multihead_attn(h, memory, masks.memory)));  // LN(h + CrossAttn(h, m))
    return norm3(g + dropout3(ffn(g)));                                             // LN(g + FFN(g))
  }
};

}  // namespace gradus::nn
