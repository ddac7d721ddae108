#pragma once
// Reading ahead: memory that will be read soon, which a matrix product fetches into the cache while it
// computes. What forward saved in a deep model has left the cache when backward comes for it: most ops wait
// for it, while a product leaves the memory idle.

#include <cstdint>

namespace gradus {

class Array;

/// A hint, never read as values: the memory may be gone by the time it is fetched.
struct ReadAhead {
  const char* data = nullptr;
  std::int64_t bytes = 0;
};

/// The memory of a contiguous array, of a large one its beginning; nothing for any other array.
ReadAhead read_ahead(const Array& x);

/// What the step of backward after the one that runs on this thread will read, as far as is known.
ReadAhead& next_step_reads();

}  // namespace gradus
