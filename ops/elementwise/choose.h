#pragma once
// where for a backward that is written once for Arrays and for Tensors. (dy times a mask would be NaN where
// dy is infinite and the mask 0.)

#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/ops.h"

namespace gradus::formula {

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

}  // namespace gradus::formula
