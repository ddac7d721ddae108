#pragma once
// The derivative of a length, on the tape.

#include "gradus/ops/detail/formula.h"

namespace gradus {

/// x / y for x and its length y, a reduction over `axes`: the constant 0 where y = 0. What is left out there
/// is x / 1: the derivatives of x / 0 would be NaN, which 0 does not cancel.
inline Tensor unit_rows(const Tensor& x, const Tensor& y, const Axes& axes, bool keepdim) {
  const Tensor none = y == 0;
  const auto wide = [&](const Tensor& row) { return formula::expand_reduced(row, x.shape(), axes, keepdim); };
  return where(wide(none), 0, x / wide(where(none, 1, y)));
}

}  // namespace gradus
