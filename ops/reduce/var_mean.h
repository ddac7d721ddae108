#pragma once
// Both moments at once, for norms.

#include "gradus/core/tensor.h"

namespace gradus {

/// With the reduced axes of size 1. Where values lie far from 0 this mean is more accurate than that of
/// mean(): the variance needs its error and corrects it. `rest` is the part of the mean that its dtype does
/// not hold, a constant for the tape: undefined where no |mean| is above 160 deviations (f64: 9e10).
struct VarMean {
  Tensor var, mean, rest;
  Tensor deviations(const Tensor& x) const { return rest.defined() ? x - mean - rest : x - mean; }
};

VarMean var_mean(const Tensor& x, const Axes& axes, bool unbiased);

}  // namespace gradus
