#pragma once
// Derivatives of any order of an elementwise function.

#include <vector>

#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {

/// d^k f / dx^k at each element of the leaf x, for k = 1 .. orders.
template <class F>
std::vector<Values> derivatives_of(const F& f, const Tensor& x, int orders) {
  std::vector<Values> all;
  Tensor y = f(x);
  for (int k = 1; k <= orders; ++k) {
    y = grad(y.sum(), {x}, {.create_graph = true})[0];
    all.push_back(values(y));
  }
  return all;
}

}  // namespace gradus::test
