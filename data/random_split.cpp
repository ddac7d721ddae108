// The sizes of the parts are those of PyTorch's random_split: floor(items share) each, and the remaining
// items are added to the first parts, one each.

#include "gradus/data/random_split.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {

namespace {

using I = std::int64_t;

std::string list(std::span<const Scalar> parts) {
  std::string text;
  for (const Scalar part : parts) text += fmt::format("{}{}", text.empty() ? "" : ", ", part);
  return "{" + text + "}";
}

/// The parts as sizes, if they are whole and add up to `items`; else empty.
std::vector<I> as_sizes(I items, std::span<const Scalar> parts) {
  std::vector<I> sizes;
  I left = items;
  for (const Scalar part : parts) {
    const std::optional<I> size = part.whole();
    if (!size || *size < 0 || *size > left) return {};
    left -= sizes.emplace_back(*size);
  }
  return left == 0 ? sizes : std::vector<I>();
}

/// The sizes of parts given as shares that add up to about 1; else empty. A rounded sum above 1 takes no more
/// than `items`.
std::vector<I> as_shares(I items, std::span<const Scalar> parts) {
  std::vector<I> sizes;
  double sum = 0;
  I left = items;
  for (const Scalar part : parts) {
    const double share = part.as<double>();
    if (!(share >= 0 && share <= 1)) return {};
    sum += share;
    left -=
        sizes.emplace_back(std::min(left, static_cast<I>(std::floor(static_cast<double>(items) * share))));
  }
  if (std::abs(sum - 1) > 1e-9) return {};
  for (std::size_t i = 0; left > 0; --left, i = (i + 1) % sizes.size()) ++sizes[i];
  return sizes;
}

}  // namespace

std::vector<Tensor> detail::random_split(I items, std::span<const Scalar> parts, Generator& generator) {
  check(items >= 1 && items < I{1} << 53, "random_split: expects 1 to 2^53 - 1 items, got {}", items);
  std::vector<I> sizes = as_shares(items, parts);
  if (sizes.empty()) sizes = as_sizes(items, parts);
  check(!sizes.empty(), "random_split: {} are neither shares that add up to 1 nor sizes that add up to {}",
        list(parts), items);
  return split(randperm(items, generator), sizes);
}

TensorArray<2> random_split(Int items, double share, Generator& generator) {
  check(share >= 0 && share <= 1,
        "random_split: expects a share of 0 to 1, got {}: sizes go in braces, {{{}, {}}}", share, share,
        static_cast<double>(items) - share);
  // 1 - 0.8 in floating point is a little less than 0.2, and floor(10 * that) would be 1.
  const double rest = std::round((1 - share) * 1e15) / 1e15;
  return random_split(items, {share, rest}, generator);
}

}  // namespace gradus::data
