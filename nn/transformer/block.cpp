#include "gradus/nn/transformer/block.h"

#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

static const char* checked(const char* kind, const BlockOptions& options) {
  expect_block_options(kind, options);
  return kind;
}

BlockParts::BlockParts(const char* kind, const BlockOptions& o)
    : Module(checked(kind, o)),
      self_attn(add("self_attn", MultiheadAttention({.d_model = o.d_model,
                                                     .heads = o.heads,
                                                     .causal = o.causal,
                                                     .dropout = o.dropout,
                                                     .bias = o.bias}))),
      ffn(add("", FFN({.d_model = o.d_model,
                       .d_ff = o.d_ff,
                       .activation = o.activation,
                       .gated = o.gated,
                       .dropout = o.dropout,
                       .bias = o.bias}))),
      norm1(add("norm1", LayerNorm(o.d_model, {.eps = o.eps, .bias = o.bias}))),
      norm2(add("norm2", LayerNorm(o.d_model, {.eps = o.eps, .bias = o.bias}))),
      dropout1(add("dropout1", Dropout(o.dropout))),
      dropout2(add("dropout2", Dropout(o.dropout))) {}

void BlockParts::expect_input(const Tensor& x) const {
  expect_sequence(kind().c_str(), "x", x, norm1.weight.numel(), norm1.weight.dtype());
}

}  // namespace gradus::nn
