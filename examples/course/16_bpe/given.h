#pragma once
// Tokens, and a pair of adjacent ones.

#include <cstdint>
#include <utility>
#include <vector>

using Ids = std::vector<std::int64_t>;
using Pair = std::pair<std::int64_t, std::int64_t>;
