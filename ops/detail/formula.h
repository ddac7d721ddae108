#pragma once
// Names that mean the same for Arrays and for Tensors: for backwards that are written once for both.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/expand_reduced.h"

namespace gradus::formula {

using array::div;
using array::matmul;
using array::mul;
using array::neg;
using array::sum;
using array::sum_to;
using gradus::expand_reduced;
using gradus::matmul;
using gradus::neg;
using gradus::sum;

inline Tensor mul(const Tensor& a, const Tensor& b) { return a * b; }
inline Tensor mul(const Tensor& a, Scalar b) { return a * b; }
inline Tensor div(const Tensor& a, const Tensor& b) { return a / b; }
inline Tensor div(const Tensor& a, Scalar b) { return a / b; }
inline Array div(const Array& a, Scalar b) { return array::binary("div", kernels::Binary::div, a, b); }

/// a where the condition is true, else b. (dy times a mask would be NaN where dy is infinite and the mask 0.)
inline Array choose(const Array& condition, const Array& a, const Array& b) {
  return array::where(condition, a, b);
}
inline Tensor choose(const Array& condition, const Tensor& a, const Tensor& b) {
  return where(Tensor(condition), a, b);
}

/// A 0 to choose instead of elements of x.
template <class V>
V zero_for(const V& x) {
  return V(array::scalar(0, x.dtype()));
}

/// Sums what broadcasting repeated.
inline Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Dims axes;
  const int extra = x.dim() - shape.size();
  for (int i = 0; i < x.dim(); ++i)
    if (i < extra || (shape[i - extra] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  return (axes.empty() ? x : sum(x, axes, /*keepdim=*/true)).reshape(shape);
}

inline Tensor expand_reduced(const Tensor& dy, const Shape& shape, const Axes& axes, bool keepdim) {
  if (keepdim) return dy.expand(shape);
  Shape kept = shape;
  for (const std::int64_t axis : normalize_axes("reduction", axes, shape.size()))
    kept[static_cast<int>(axis)] = 1;
  return dy.reshape(kept).expand(shape);
}

/// x limited to -bound .. bound, for a slope that has vanished beyond: there it would be 0 * inf. NaN keeps
/// its gradient, which clamp's would make 0.
inline Tensor limited(const Tensor& x, double bound) {
  const auto number = [&](double value) { return Tensor(array::scalar(value, x.dtype())); };
  return maximum(minimum(x, number(bound)), number(-bound));
}

}  // namespace gradus::formula
