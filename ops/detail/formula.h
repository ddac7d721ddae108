#pragma once
// Names that mean the same for Arrays and for Tensors: for backwards that are written once for both.

#include <vector>

#include "gradus/core/tape/grad.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/expand_reduced.h"

namespace gradus::formula {

using array::div;
using array::mul;
using array::neg;
using array::sum_to;
using gradus::expand_reduced;

inline Tensor mul(const Tensor& a, const Tensor& b) { return a * b; }
inline Tensor mul(const Tensor& a, Scalar b) { return a * b; }
inline Tensor div(const Tensor& a, const Tensor& b) { return a / b; }
inline Tensor neg(const Tensor& a) { return gradus::neg(a); }

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

/// For a fused op: passes dy back through `forward`, the op composed of others, a function of `inputs`.
template <class F>
std::vector<Tensor> by_parts(const Tensor& dy, const Taped& of, std::vector<Tensor> inputs, F forward) {
  // The pass ends at a view of each input, even where one input was made from another.
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (of[i]) wanted.push_back(inputs[i] = inputs[i].reshape(inputs[i].shape()));
  std::vector<Tensor> found =
      grad(forward(inputs), wanted, {.grad_output = dy, .create_graph = true, .allow_unused = true});
  std::vector<Tensor> all(inputs.size());
  for (std::size_t i = 0, j = 0; i < inputs.size(); ++i)
    if (of[i]) all[i] = std::move(found[j++]);
  return all;
}

}  // namespace gradus::formula
