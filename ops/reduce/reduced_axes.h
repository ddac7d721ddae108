#pragma once
// Handling of the reduced axes.

#include "gradus/core/tensor.h"
#include "gradus/ops/array/array_ops.h"

namespace gradus {

/// How many elements of `shape` one result of a reduction over `axes` is made of.
inline double count(const Shape& shape, const Dims& axes) {
  double n = 1;
  for (const std::int64_t axis : axes) n *= static_cast<double>(shape[static_cast<int>(axis)]);
  return n;
}

/// x with the reduced axes behind the others.
inline Array axes_last(const Array& x, const Dims& axes) {
  Dims order;
  for (int i = 0; i < x.dim(); ++i)
    if (!axes.contains(i)) order.push_back(i);
  for (const std::int64_t axis : axes) order.push_back(axis);
  return x.permute(order);
}

}  // namespace gradus
