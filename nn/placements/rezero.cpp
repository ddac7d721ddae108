#include "gradus/nn/placements/rezero.h"

namespace gradus::nn {

Placement rezero() {
  return placement<ReZero>({.name = "ReZero",
                            .equation = "x + a f(x), a = 0 at the start",
                            .paper = "Bachlechner et al. 2020, arXiv 2003.04887"});
}

}  // namespace gradus::nn
