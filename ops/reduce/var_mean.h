#pragma once
// Both moments at once, for norms.

#include <utility>

#include "gradus/core/tensor.h"

namespace gradus {

/// var and mean, in this order as in PyTorch, with the reduced axes of size 1. Where numbers lie far from 0
/// this mean is more accurate than that of mean(): the variance needs its error and corrects it.
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& axes, bool unbiased);

}  // namespace gradus
