#pragma once
// A reduction's backward.

#include "gradus/core/array/array.h"

namespace gradus {

/// Repeats the result of a reduction over `axes` along these axes: [B, C] -> [B, T, C] for axis 1 of shape
/// [B, T, C]. A view: nothing is copied.
inline Array expand_reduced(const Array& reduced, const Shape& shape, const Axes& axes, bool keepdim) {
  const Dims gone = normalize_axes("reduction", axes, shape.size());
  Strides strides = Dims::filled(shape.size(), 0);
  int from = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (!gone.contains(i))
      strides[i] = reduced.strides()[from++];
    else if (keepdim)
      ++from;
  }
  return reduced.as_strided(shape, strides, reduced.offset());
}

}  // namespace gradus
