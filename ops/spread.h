#pragma once
// A reduction's backward (internal).

#include "gradus/core/array.h"

namespace gradus {

/// Repeats what a reduction over `axes` gave along these axes: [B, C] -> [B, T, C] for axis 1 of shape
/// [B, T, C]. A view: nothing is copied.
inline Array spread(const Array& reduced, const Shape& shape, const Axes& axes, bool keepdim) {
  Array result = reduced;
  if (!keepdim)
    for (const std::int64_t axis : normalize_axes("reduction", axes, shape.size()))
      result = result.unsqueeze(axis);
  return result.expand(shape);
}

}  // namespace gradus
