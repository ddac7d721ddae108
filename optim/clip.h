#pragma once
// Gradient clipping: by the norm of all gradients together (Pascanu et al. 2013), and by value.

#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::optim {

/// The Euclidean norm of all gradients together, also where its square would overflow or vanish: squares are
/// summed 4096 at a time in the gradient's own precision, or in double where that would lose or overflow
/// them, and these sums in double. Parameters without a gradient count as 0, one that is given twice once.
double grad_norm(const std::vector<Tensor>& parameters);

/// Scales all gradients by max_norm / (norm + 1e-6) when norm exceeds max_norm, as PyTorch does; returns the
/// norm before. A norm that is not finite is returned and leaves the gradients alone: the caller decides.
/// `const double norm = optim::clip_grad_norm(model.parameters(), 1.0);`
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

/// Moves every element of every gradient into -clip_value .. clip_value; NaN stays NaN.
/// `optim::clip_grad_value(model.parameters(), 0.5);`
void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace gradus::optim
