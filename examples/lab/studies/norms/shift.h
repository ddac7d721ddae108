#pragma once
// Internal covariate shift, measured: how far one update moves a layer's input.

#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::lab::norms {

/// Mean and standard deviation of each channel, over all tokens.
struct Moments {
  Tensor mean, deviation;  // [C]
};
Moments moments_of(const Tensor& tokens);  // [..., C]

/// How far the channels of an input have moved, log10: sqrt(sum over channels of (change of mean)^2 + (change
/// of standard deviation)^2), over the root of the sum of the variances before (the meaning of the term in
/// Ioffe & Szegedy 2015).
double input_shift(const Moments& now, const Moments& before);

/// |g' - g| / |g|, log10: g the gradient of a block's parameters, g' the same after the blocks below have
/// made their update and it has not (Santurkar et al. 2018, definition 2.1).
double gradient_change(const std::vector<Tensor>& now, const std::vector<Tensor>& before);

}  // namespace gradus::lab::norms
