#pragma once
// A step of a random graph, for tests that compare two kinds of pass.

#include <cstddef>
#include <random>
#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

inline std::size_t below(std::size_t n, std::mt19937& random) {
  return static_cast<std::size_t>(random() % n);
}

/// Adds a [2, 3] tensor made from two that are there.
inline void grow(std::vector<Tensor>& all, std::mt19937& random) {
  const Tensor a = all[below(all.size(), random)], b = all[below(all.size(), random)];
  switch (below(5, random)) {
    case 0:
      all.push_back(a * b);
      break;
    case 1:
      all.push_back(a + b);
      break;
    case 2:
      all.push_back(tanh(a));
      break;
    case 3:
      all.push_back(a.slice(1, 0, 2).sum(1, true) - b);
      break;
    default:
      all.push_back(checkpoint([](const Tensor& p, const Tensor& q) { return sin(p) * q; }, a, b));
  }
}

}  // namespace gradus::test
