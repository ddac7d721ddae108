#include "gradus/nn/placements/resi_dual.h"

namespace gradus::nn {

Placement resi_dual() {
  return placement<ResiDual>({.name = "ResiDual",
                              .equation = "x <- LN(x + f(x)), r <- r + f(x), at the end x + LN(r)",
                              .paper = "Xie et al. 2023, arXiv 2304.14802",
                              .enter =
                                  [](const Tensor& x) {
                                    return stack({x, x});
                                  },
                              .leave = [](const BlockOptions& o) { return ResiDualEnd(o); }});
}

}  // namespace gradus::nn
