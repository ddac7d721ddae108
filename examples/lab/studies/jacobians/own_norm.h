#pragma once
// A layer norm with the right forward pass and a chosen, possibly wrong, backward pass.

#include "gradus/nn/norm/norm.h"

namespace gradus::lab {

/// The gradient through (x - mean) / sigma, for a gradient g of a token of d channels.
enum class NormBackward {
  right,           // (g - mean(g) - xhat mean(g xhat)) / sigma
  constant_sigma,  // (g - mean(g)) / sigma: only the mean is differentiated
  printed,         // (g - mu sum(g)) / sigma: the transpose of (delta_ij - mu_j) / sigma, mu the token's mean
  constants        // g / sigma: neither is differentiated
};

/// nn::LayerNorm forward, gain and bias included, with this backward: the same bits forward for all four.
struct OwnLayerNorm : nn::Module {
  OwnLayerNorm(const nn::NormOptions& options, NormBackward backward);
  Tensor operator()(const Tensor& x) const;

  nn::Parameter weight, bias;

 private:
  double eps_;
  NormBackward backward_;
};

/// Makes the norm for BlockOptions::norm.
nn::MakeNorm own_layer_norm(NormBackward backward);

}  // namespace gradus::lab
