#pragma once
// What two placements look like before the first step: the setting of Xiong et al. 2020, section 3
// ("On layer normalization in the Transformer architecture"), measured on the library's own blocks.
//
// One head, every matrix d x d with entries from N(0, 1/d), W_Q = W_K = 0 (each position attends to all
// equally), Gaussian input, gain 1, bias 0. The loss is the cross-entropy AT ONE POSITION: that of a mean
// over positions can show a trend with depth that the theorem does not speak of, because uniform attention
// makes positions alike (docs/lab.md measures it).

#include <cstdint>
#include <optional>
#include <vector>

#include "gradus/nn/nn.h"
#include "lab/placement.h"

namespace gradus::lab {

struct InitialisationOptions {
  std::vector<std::int64_t> depths = {2, 4, 8, 16, 32, 48};
  std::int64_t d_model = 64;
  std::int64_t positions = 8;
  std::int64_t classes = 16;
  std::int64_t seeds = 10;
  std::uint64_t seed = 0;
  Placements placements = {Placement::pre, Placement::post};
};

/// Means over the seeds, the standard deviation of the headline figure, and shares by seed.
struct InitialState {
  Placement placement;
  std::int64_t layers = 0;
  std::vector<double>
      norm_squared;              // E|x_l|^2 / d after block l = 1..L (Post-LN: before the block's last norm)
  std::vector<double> gradient;  // |dL/dW2| of block l = 1..L
  std::vector<double> activation_gradient;  // |dL/dx_l|, x_l the output of block l = 1..L
  double top_gradient = 0;                  // |dL/dW2| of the last block: what Theorem 1 bounds
  double top_gradient_std = 0;              // over seeds
  // By seed, what the first block has of the last one's gradient, of weights and of activations: seeds differ
  // by a power of ten and more, so that a mean says little. Empty in files of older versions.
  std::vector<double> weight_share, activation_share;
};

/// The paper's initial weights, the same for both placements, which have the same keys: N(0, 1/d), but
/// queries and keys of 0, so that attention is uniform.
StateDict xiong_weights(const nn::TransformerEncoder& encoder, std::int64_t d, Generator& generator);

/// What a placement sets itself, after weights have been drawn: DeepNorm all matrices.
void set_own_values(const nn::TransformerEncoder& stack, const Placement& placement, std::uint64_t seed);

/// Two entries a depth, one for each placement. Throws kit::Interrupted.
std::vector<InitialState> measure_initialisation(const InitialisationOptions& options);

/// The gradient of the last block in one placement and depth; throws where it was not measured.
double top_gradient(const std::vector<InitialState>& states, const Placement& placement, std::int64_t layers);

/// What the theorem says of Pre-LN and of Post-LN, where they were measured.
struct Theorem1 {
  std::optional<double> post_ratio_L32_L2;  // of the theorem's upper bounds: 1
  std::optional<double> pre_ratio_L8_L32;   // of the theorem's upper bounds: sqrt(32 / 8) = 2
  // (1 + l/2) d <= mean |x_l|^2 <= (1 + 3l/2) d at every depth measured
  std::optional<bool> pre_norm_inside_lemma2;
};

/// Throws unless depths 2, 8 and 32 were measured.
Theorem1 check_theorem1(const std::vector<InitialState>& states);

struct JacobianCheck {
  double max_error = 0;        // autograd and (I - 11^T/d - xhat xhat^T/d) / sigma against finite differences
  double wrong_mean_only = 0;  // "(delta_ij - mu_j) / sigma", often printed: how far off
  double wrong_constant_sigma = 0;  // treating sigma as a constant: how far off
};

/// The Jacobian of layer norm (eps 1e-5) at one random x of size d, in f64.
JacobianCheck check_layer_norm_jacobian(std::int64_t d, std::uint64_t seed);

}  // namespace gradus::lab
