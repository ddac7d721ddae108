#include "gradus/core/tape/detail/next_reads.h"

#include <algorithm>

#include "gradus/core/array/array.h"

namespace gradus {

namespace {
constexpr std::int64_t kMost = std::int64_t{4} << 20;  // more would push what came first out of the cache
}

ReadAhead read_ahead(const Array& x) {
  if (!x.defined() || !x.is_contiguous()) return {};
  const std::int64_t bytes = x.numel() * static_cast<std::int64_t>(size_of(x.dtype()));
  return {static_cast<const char*>(x.raw()), std::min(bytes, kMost)};
}

}  // namespace gradus
