#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

Placement pre_ln() {
  return {.name = "Pre-LN",
          .final_norm = true,
          .block = [](const BlockOptions& options) { return PreLNBlock(options); },
          .decoder_block = [](const BlockOptions& options) { return PreLNDecoderBlock(options); }};
}

Placement post_ln() {
  return {.name = "Post-LN",
          .block = [](const BlockOptions& options) { return PostLNBlock(options); },
          .decoder_block = [](const BlockOptions& options) { return PostLNDecoderBlock(options); }};
}

}  // namespace gradus::nn
