#include "gradus/nn/transformer/block.h"

#include <algorithm>

#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

MultiheadAttentionOptions BlockOptions::attention() const {
  return {.d_model = d_model,
          .heads = heads,
          .causal = causal.value_or(false),
          .dropout = dropout,
          .bias = bias,
          .qkv_bias = qkv_bias,
          .head_dim = head_dim,
          .kv_heads = kv_heads,
          .scale = attention_scale,
          .window = (layer + 1) % std::max<std::int64_t>(window_every, 1) == 0 ? window : 0,
          .alibi = alibi,
          .rope = rope,
          .qk_norm = qk_norm,
          .v_norm = v_norm,
          .norm = norm,
          .eps = eps};
}

MultiheadAttentionOptions BlockOptions::cross_attention() const {
  MultiheadAttentionOptions options = attention();
  // Distances to positions of something else mean nothing.
  options.causal = options.alibi = false;
  options.window = 0;
  options.rope.reset();
  return options;
}

FFNOptions BlockOptions::ffn() const {
  return {.d_model = d_model,
          .d_ff = d_ff,
          .activation = activation.value_or(Activation::relu),
          .gated = gated,
          .dropout = dropout,
          .bias = bias};
}

BlockBranches::BlockBranches(const std::string& kind, const BlockOptions& o)
    : Module(expect_block_options(kind, o)),
      self_attn(add("self_attn", MultiheadAttention(o.attention()))),
      ffn(add("", FFN(o.ffn()))),
      dropout1(add("dropout1", Dropout(o.dropout))),
      dropout2(add("dropout2", Dropout(o.dropout))) {}

void BlockBranches::expect_input(const Tensor& x) const {
  const Tensor& weight = ffn.linear1.weight;
  expect_sequence(kind().c_str(), "x", x, weight.size(1), weight.dtype());
}

BlockParts::BlockParts(const std::string& kind, const BlockOptions& o)
    : BlockBranches(kind, o), norm1(add("norm1", o.new_norm())), norm2(add("norm2", o.new_norm())) {}

}  // namespace gradus::nn
