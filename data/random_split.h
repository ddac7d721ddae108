#pragma once
// random_split: divides items into training and test sets.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

namespace detail {
std::vector<Tensor> random_split(std::int64_t items, std::span<const Scalar> parts, Generator& generator);
}

/// The indices 0 .. items - 1 in a random order, cut in two: a share of them, and the rest (i64).
/// `const auto [train, test] = data::random_split(x.size(0), 0.8);  x[train]`
TensorArray<2> random_split(Int items, double share, Generator& generator = default_generator());

void random_split(const Tensor&, const auto&...) = delete;  // takes a number: random_split(x.size(0), 0.8)

/// The same in N parts: shares that add up to 1, rounded as by PyTorch's random_split (down; the first parts
/// get the remaining items, one each), or sizes that add up to `items`. Throws when they do not. `const
/// auto [train, valid, test] = data::random_split(n, {0.8, 0.1, 0.1});`
template <std::size_t N>
TensorArray<N> random_split(Int items, const Scalar (&parts)[N], Generator& generator = default_generator()) {
  TensorArray<N> result;
  std::vector<Tensor> cut = detail::random_split(items, parts, generator);
  for (std::size_t i = 0; i < N; ++i) result[i] = std::move(cut[i]);
  return result;
}

}  // namespace gradus::data
