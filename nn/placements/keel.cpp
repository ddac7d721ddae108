#include "gradus/nn/placements/keel.h"

namespace gradus::nn {

Placement keel() {
  return {.name = "Keel",
          .equation = "LN(a x + f(LN(x))), a = 2L",
          .paper = "Chen & Wei 2026, arXiv 2601.19895",
          .block = [](const BlockOptions& o) { return Block<Keel>(o); }};
}

}  // namespace gradus::nn
