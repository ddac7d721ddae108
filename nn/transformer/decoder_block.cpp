#include "gradus/nn/transformer/decoder_block.h"

#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

static MultiheadAttentionOptions attention_of(const BlockOptions& options, bool causal) {
  MultiheadAttentionOptions attention = options.attention();
  attention.causal = causal;
  return attention;
}

DecoderBranches::DecoderBranches(const std::string& kind, const BlockOptions& o)
    : Module(expect_block_options(kind, o)),
      self_attn(add("self_attn", MultiheadAttention(attention_of(o, o.causal.value_or(true))))),
      multihead_attn(add("multihead_attn", MultiheadAttention(attention_of(o, false)))),
      ffn(add("", FFN(o.ffn()))),
      dropout1(add("dropout1", Dropout(o.dropout))),
      dropout2(add("dropout2", Dropout(o.dropout))),
      dropout3(add("dropout3", Dropout(o.dropout))) {}

void DecoderBranches::expect_inputs(const Tensor& x, const Tensor& memory) const {
  const std::string name = kind();
  const Tensor& weight = ffn.linear1.weight;
  expect_sequence(name.c_str(), "x", x, weight.size(1), weight.dtype());
  expect_memory(name.c_str(), memory, weight.size(1), weight.dtype(),
                "decoder(x, memory, {.memory = {.key_padding_mask = padding}})");
}

DecoderBlockParts::DecoderBlockParts(const std::string& kind, const BlockOptions& o)
    : DecoderBranches(kind, o),
      norm1(add("norm1", o.new_norm())),
      norm2(add("norm2", o.new_norm())),
      norm3(add("norm3", o.new_norm())) {}

}  // namespace gradus::nn
