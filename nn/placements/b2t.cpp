#include "gradus/nn/placements/b2t.h"

namespace gradus::nn {

Placement b2t() {
  return {.name = "B2T",
          .equation = "y = LN(x + Attn(x)), LN(x + y + FFN(y))",
          .paper = "Takase et al. 2022, arXiv 2206.00330",
          .block = [](const BlockOptions& o) { return B2TBlock(o); },
          .decoder_block = [](const BlockOptions& o) { return B2TDecoderBlock(o); }};
}

}  // namespace gradus::nn
