#include "gradus/nn/transformer/decoder_block.h"

#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

static BlockOptions causal_unless_told(BlockOptions options) {
  options.causal = options.causal.value_or(true);
  return options;
}

DecoderBranches::DecoderBranches(const std::string& kind, const BlockOptions& o)
    : Module(expect_block_options(kind, o)),
      self_attn(add("self_attn", MultiheadAttention(causal_unless_told(o).attention()))),
      multihead_attn(add("multihead_attn", MultiheadAttention(o.cross_attention()))),
      ffn(add("", FFN(o.ffn()))),
      dropout1(add("dropout1", Dropout(o.dropout))),
      dropout2(add("dropout2", Dropout(o.dropout))),
      dropout3(add("dropout3", Dropout(o.dropout))) {}

void DecoderBranches::expect_inputs(const Tensor& x, const Tensor& memory) const {
  const Tensor& weight = ffn.linear1.weight;
  expect_decoder_inputs(kind().c_str(), x, memory, weight.size(1), weight.dtype());
}

DecoderBlockParts::DecoderBlockParts(const std::string& kind, const BlockOptions& o)
    : DecoderBranches(kind, o),
      norm1(add("norm1", o.new_norm())),
      norm2(add("norm2", o.new_norm())),
      norm3(add("norm3", o.new_norm())) {}

}  // namespace gradus::nn
