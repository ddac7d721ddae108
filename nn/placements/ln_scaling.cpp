#include "gradus/nn/placements/ln_scaling.h"

namespace gradus::nn {

Placement ln_scaling() {
  return placement<ScaledPreLN>({.name = "LN-Scaling",
                                 .final_norm = true,
                                 .equation = "x + f(LN(x) / sqrt(l)), l the block's number",
                                 .paper = "Sun et al. 2025, arXiv 2502.05795"});
}

}  // namespace gradus::nn
