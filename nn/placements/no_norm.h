#pragma once
// No norm at all (He et al. 2016, arXiv 1512.03385, are where the shortcut comes from).

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + f(x).
struct NoNorm : Module {
  explicit NoNorm(const BlockOptions&) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + f(x); }
};

/// Blocks without any norm: `.placement = nn::no_norm()`.
Placement no_norm();

}  // namespace gradus::nn
