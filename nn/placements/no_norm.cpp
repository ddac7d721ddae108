#include "gradus/nn/placements/no_norm.h"

namespace gradus::nn {

Placement no_norm() {
  return placement<NoNorm>(
      {.name = "no norm", .equation = "x + f(x)", .paper = "He et al. 2016, arXiv 1512.03385"});
}

}  // namespace gradus::nn
