#include "gradus/nn/placements/olmo2.h"

namespace gradus::nn {

Placement olmo2() {
  return placement<OutputNorm>({.name = "OLMo 2",
                                .final_norm = true,
                                .equation = "x + LN(f(x))",
                                .paper = "Walsh et al. 2025, arXiv 2501.00656"});
}

}  // namespace gradus::nn
