#pragma once
// Checks the options of a loader.

#include <cstdint>
#include <vector>

#include "gradus/data/loader.h"

namespace gradus::data::detail {

/// Throws unless these options can make batches of `items` items.
void check_options(const DataLoaderOptions& options, std::int64_t items);

/// The length of every item; none where the options have no `length`.
std::vector<std::int64_t> lengths_of(const DataLoaderOptions& options, std::int64_t items);

/// A hash of the lengths and their order.
std::int64_t checksum(const std::vector<std::int64_t>& lengths);

}  // namespace gradus::data::detail
