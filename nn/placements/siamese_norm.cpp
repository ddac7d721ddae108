#include "gradus/nn/placements/siamese_norm.h"

namespace gradus::nn {

Placement siamese_norm() {
  return {
      .name = "SiameseNorm",
      .equation = "x <- LN(x), z = f(LN(x + LN(y))), x <- x + z / sqrt(2l), y <- y + z; LN(LN(x) + LN(y))",
      .paper = "Li et al. 2026, arXiv 2602.08064",
      .block = [](const BlockOptions& o) { return Block<SiameseNorm>(o); },
      .enter =
          [](const Tensor& x) {
            return stack({x, x});
          },
      .leave = [](const BlockOptions& o) { return SiameseNormEnd(o); }};
}

}  // namespace gradus::nn
