#pragma once
// Memory that will be read soon, which a matrix product fetches into the cache while it computes.

#include <cstdint>

namespace gradus {

/// A hint, never dereferenced: the memory may be freed by the time it is fetched.
struct ReadAhead {
  const char* data = nullptr;
  std::int64_t bytes = 0;
};

}  // namespace gradus
