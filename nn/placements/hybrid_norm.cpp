#include "gradus/nn/placements/hybrid_norm.h"

namespace gradus::nn {

static BlockOptions with_head_norms(BlockOptions options) {
  options.qk_norm = options.v_norm = true;
  return options;
}

Placement hybrid_norm() {
  return {.name = "HybridNorm",
          .final_norm = true,
          .equation = "y = x + Attn(LN(q), LN(k), LN(v)), LN(y) + FFN(LN(y))",
          .paper = "Zhuo et al. 2025, arXiv 2503.04598",
          .block = [](const BlockOptions& o) { return Block<NoNorm, NormedResidual>(with_head_norms(o)); },
          .decoder_block =
              [](const BlockOptions& o) { return DecoderBlock<NoNorm, NormedResidual>(with_head_norms(o)); }};
}

}  // namespace gradus::nn
