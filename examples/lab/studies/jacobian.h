#pragma once
// The Jacobian of layer norm four ways: finite differences, autograd, the right formula and two wrong ones.

#include <cstdint>

namespace gradus::lab {

struct JacobianCheck {
  double max_error = 0;        // autograd and (I - 11^T/d - xhat xhat^T/d) / sigma against finite differences
  double wrong_mean_only = 0;  // "(delta_ij - mu_j) / sigma", often printed: its error
  double wrong_constant_sigma = 0;  // treating sigma as a constant: its error
};

/// The Jacobian of layer norm (eps 1e-5) at one random x of size d, in f64.
JacobianCheck check_layer_norm_jacobian(std::int64_t d, std::uint64_t seed);

}  // namespace gradus::lab
