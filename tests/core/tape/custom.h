#pragma once
// For tests of the tape: an op whose backward the test provides.

#include "gradus/core/tape/record.h"
#include "gradus/core/tensor.h"

namespace gradus::test {

inline double gradient(const Tensor& x) { return x.grad().item(); }

/// y = x, with the test's backward.
template <class F>
Tensor custom(const Tensor& x, F backward) {
  return record("custom", x.array().clone(), {&x}, backward);
}

}  // namespace gradus::test
