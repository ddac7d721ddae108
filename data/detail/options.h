#pragma once
// The options of a loader, checked.

#include <cstdint>
#include <vector>

#include "gradus/data/loader.h"

namespace gradus::data::detail {

/// Throws unless these options make batches of so many items.
void check_options(const DataLoaderOptions& options, std::int64_t items);

/// The length of every item; none where the options have no `length`.
std::vector<std::int64_t> lengths_of(const DataLoaderOptions& options, std::int64_t items);

/// A number that other lengths, or another order of them, would hardly have.
std::int64_t checksum(const std::vector<std::int64_t>& lengths);

}  // namespace gradus::data::detail
