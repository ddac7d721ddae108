#pragma once
// HybridNorm (Zhuo et al. 2025, arXiv 2503.04598): attention whose queries, keys and values are normalised,
// and a norm under the FFN and its shortcut.

#include "gradus/nn/placements/no_norm.h"

namespace gradus::nn {

/// LN(y) + f(LN(y)).
struct NormedResidual : Module {
  explicit NormedResidual(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& y, const Branch& f) const {
    const Tensor h = norm(y);
    return h + f(h);
  }
  Norm norm;  // of what comes in
};

/// y = x + Attn(N(q), N(k), N(v)), N(y) + FFN(N(y)): attention with qk_norm and v_norm.
Placement hybrid_norm();

}  // namespace gradus::nn
