#include "gradus/nn/placements/peri_ln.h"

namespace gradus::nn {

Placement peri_ln() {
  return placement<PeriLN>({.name = "Peri-LN",
                            .final_norm = true,
                            .equation = "x + LN(f(LN(x)))",
                            .paper = "Kim et al. 2025, arXiv 2502.02732; Sandwich-LN: Ding et al. 2021"});
}

}  // namespace gradus::nn
