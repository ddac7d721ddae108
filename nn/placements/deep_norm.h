#pragma once
// DeepNorm (Wang et al. 2022, arXiv 2203.00555): Post-LN with a larger shortcut and smaller initial weights.

#include <cstdint>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// LN(alpha x + f(x)); alpha, where not given, is (2N)^(1/4) for a stack of N blocks.
struct DeepNorm : Module {
  explicit DeepNorm(const BlockOptions& options);
  DeepNorm(const BlockOptions& options, double alpha) : norm(add("", options.new_norm())), alpha_(alpha) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return norm(alpha_ * x + f(x)); }
  Norm norm;  // of the sum

 private:
  double alpha_;
};

/// For a model of one stack, encoder or GPT, of N blocks: alpha = (2N)^(1/4). Initial weights of the FFN and
/// of the values' and output projections are Xavier normal with gain beta = (8N)^(-1/4), of queries and keys
/// with gain 1 (figure 2 of the paper).
Placement deep_norm();

/// The sizes of the two stacks of a model with encoder and decoder.
struct DeepNormOptions {
  std::int64_t encoder_layers = 0;  // N
  std::int64_t decoder_layers = 0;  // M
};
/// For both stacks of such a model: alpha = 0.81 (N^4 M)^(1/16), beta = 0.87 (N^4 M)^(-1/16) in the encoder,
/// alpha = (3M)^(1/4), beta = (12M)^(-1/4) in the decoder. A stack of another size throws.
Placement deep_norm(const DeepNormOptions& options);

}  // namespace gradus::nn
