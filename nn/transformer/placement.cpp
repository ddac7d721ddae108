#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

Placement pre_ln() {
  return {.name = "Pre-LN",
          .final_norm = true,
          .equation = "x + f(LN(x))",
          .paper = "Xiong et al. 2020, arXiv 2002.04745; GPT-2: Radford et al. 2019",
          .block = [](const BlockOptions& options) { return PreLNBlock(options); },
          .decoder_block = [](const BlockOptions& options) { return PreLNDecoderBlock(options); }};
}

Placement post_ln() {
  return {.name = "Post-LN",
          .equation = "LN(x + f(x))",
          .paper = "Vaswani et al. 2017, arXiv 1706.03762",
          .block = [](const BlockOptions& options) { return PostLNBlock(options); },
          .decoder_block = [](const BlockOptions& options) { return PostLNDecoderBlock(options); }};
}

}  // namespace gradus::nn
