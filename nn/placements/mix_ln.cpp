#include "gradus/nn/placements/mix_ln.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

Placement mix_ln(double post_share) {
  expect_probability("Mix-LN", "post_share", post_share);
  const auto is_post = [post_share](const BlockOptions& o) {
    return static_cast<double>(o.layer) < std::floor(post_share * static_cast<double>(o.layers));
  };
  const std::string first = post_share == 0.25 ? "quarter of the blocks (under 4: in none)"
                                               : fmt::format("{} of the blocks", post_share);
  return {.name = post_share == 0.25 ? "Mix-LN" : fmt::format("Mix-LN {}", post_share),
          .final_norm = true,
          .equation = fmt::format("LN(x + f(x)) in the first {}, then x + f(LN(x))", first),
          .paper = "Li et al. 2024, arXiv 2412.13795",
          .block = [is_post](const BlockOptions& o) -> AnyBlock {
            if (is_post(o)) return PostLNBlock(o);
            return PreLNBlock(o);
          },
          .decoder_block = [is_post](const BlockOptions& o) -> AnyDecoderBlock {
            if (is_post(o)) return PostLNDecoderBlock(o);
            return PreLNDecoderBlock(o);
          }};
}

}  // namespace gradus::nn
