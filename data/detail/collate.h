#pragma once
// collate: items become one tensor.

#include <cstdint>
#include <span>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::data::detail {

/// The items along a new first axis; with `pad` each gets that at the end of its first axis, up to the
/// longest. For messages: their numbers, and which part of an item they are.
Tensor collate(const std::vector<Tensor>& items, std::span<const std::int64_t> numbers, std::size_t part,
               const Scalar* pad);

}  // namespace gradus::data::detail
