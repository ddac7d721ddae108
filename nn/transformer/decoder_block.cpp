#include "gradus/nn/transformer/decoder_block.h"

#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

static const char* checked(const char* kind, const DecoderBlockOptions& options) {
  expect_block_options(kind, options);
  return kind;
}

DecoderBlockParts::DecoderBlockParts(const char* kind, const DecoderBlockOptions& o)
    : Module(checked(kind, o)),
      self_attn(add("self_attn", MultiheadAttention({.d_model = o.d_model,
                                                     .heads = o.heads,
                                                     .causal = o.causal,
                                                     .dropout = o.dropout,
                                                     .bias = o.bias}))),
      multihead_attn(
          add("multihead_attn",
              MultiheadAttention(
                  {.d_model = o.d_model, .heads = o.heads, .dropout = o.dropout, .bias = o.bias}))),
      ffn(add("", FFN({.d_model = o.d_model,
                       .d_ff = o.d_ff,
                       .activation = o.activation,
                       .gated = o.gated,
                       .dropout = o.dropout,
                       .bias = o.bias}))),
      norm1(add("norm1", LayerNorm(o.d_model, {.eps = o.eps, .bias = o.bias}))),
      norm2(add("norm2", LayerNorm(o.d_model, {.eps = o.eps, .bias = o.bias}))),
      norm3(add("norm3", LayerNorm(o.d_model, {.eps = o.eps, .bias = o.bias}))),
      dropout1(add("dropout1", Dropout(o.dropout))),
      dropout2(add("dropout2", Dropout(o.dropout))),
      dropout3(add("dropout3", Dropout(o.dropout))) {}

void DecoderBlockParts::expect_inputs(const Tensor& x, const Tensor& memory) const {
  const std::string name = kind();
  const std::int64_t size = norm1.weight.numel();
  expect_sequence(name.c_str(), "x", x, size, norm1.weight.dtype());
  expect_memory(name.c_str(), memory, size, norm1.weight.dtype(),
                "decoder(x, memory, {.memory = {.key_padding_mask = padding}})");
}

}  // namespace gradus::nn
