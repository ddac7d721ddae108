#pragma once
// softmax's gradient, for softmax itself and for attention.

#include "gradus/core/tensor.h"

namespace gradus {

/// dx = p (dp - sum_j dp_j p_j) for p = softmax(x) [..., C], contiguous, and the gradient dp of p.
Array softmax_gradient(const Array& p, const Array& dp);
/// The same in ops, along any axis.
Tensor softmax_gradient(const Tensor& p, const Tensor& dp, const Axes& axis = -1);

}  // namespace gradus
