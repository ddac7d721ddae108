#pragma once
// Gradient clipping: by the norm of all gradients together (Pascanu et al. 2013), and by value.

#include <cstdint>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::optim {

/// The Euclidean norm of all gradients together, also if its square would overflow or underflow: squares are
/// summed 4096 at a time in the gradient's dtype, or in double if that would overflow or underflow, and these
/// sums are added in double. Parameters without a gradient count as 0; a parameter given twice counts once.
double grad_norm(const std::vector<Tensor>& parameters);

/// The elements of a gradient whose squares grad_norm() adds first: from its first element on, 4096 each.
inline constexpr std::int64_t kNormBlock = 4096;

/// The sum of squares of each block of a gradient, [ceil(numel / kNormBlock)] f64: for a norm whose gradients
/// lie in several places. The sum of a gradient's blocks in order, and of all gradients in order, is the
/// square of grad_norm() unless that overflows or underflows. `const Tensor sums =
/// optim::block_sums(w.grad());`
Tensor block_sums(const Tensor& gradient);

/// Scales all gradients by max_norm / (norm + 1e-6) when norm exceeds max_norm, as in PyTorch; returns the
/// norm before. If the norm is not finite, the gradients are not changed: the caller decides. Throws when no
/// parameter has a gradient. `const double norm = optim::clip_grad_norm(model.parameters(), 1.0);`
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

/// The second half of clip_grad_norm(), for a norm that is known: scales all gradients by
/// max_norm / (total_norm + 1e-6) if total_norm is finite and exceeds max_norm.
/// `optim::clip_grads_with_norm(model.parameters(), 1.0, norm);`
void clip_grads_with_norm(const std::vector<Tensor>& parameters, double max_norm, double total_norm);

/// Clamps every element of every gradient to -clip_value .. clip_value; NaN stays NaN.
/// `optim::clip_grad_value(model.parameters(), 0.5);`
void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace gradus::optim
