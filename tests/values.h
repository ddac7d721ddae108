#pragma once
// Tensors as plain numbers, and the tensors many tests begin with.

#include <limits>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;
inline Values values(const Tensor& x) { return x.to_vector<double>(); }

/// x, which from here on wants a gradient.
inline Tensor leaf(Tensor x) {
  x.requires_grad_();
  return x;
}
inline Tensor leaf(double x) { return leaf(tensor(x)); }

/// 0, 1, 2, ... in row-major order.
inline Tensor counting(const Shape& shape, DType dtype = f32) {
  return arange(0, numel(shape), 1, dtype).reshape(shape);
}

}  // namespace gradus::test
