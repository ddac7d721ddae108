#pragma once
// What tests of the tape itself need: an op whose backward is the test's own.

#include "gradus/core/tape/record.h"
#include "gradus/core/tensor.h"

namespace gradus::test {

inline double gradient(const Tensor& x) { return x.grad().item(); }

/// y = x, with a backward of the test's own.
template <class F>
Tensor custom(const Tensor& x, F backward) {
  return record("custom", x.array().clone(), {&x}, backward);
}

}  // namespace gradus::test
