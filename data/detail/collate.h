#pragma once
// collate: stacks items into one tensor.

#include <cstdint>
#include <span>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::data::detail {

/// Stacks the items along a new first axis; with `pad`, each is first padded with it at the end of its first
/// axis to the longest. Messages use the items' `numbers` and the number of their `part`.
Tensor collate(const std::vector<Tensor>& items, std::span<const std::int64_t> numbers, std::size_t part,
               const Scalar* pad);

}  // namespace gradus::data::detail
