#pragma once
// Prefetching. In a deep model, arrays saved by forward have left the cache by the time backward needs them:
// most ops wait for them, while a product leaves the memory bus idle and can prefetch the next ones.

#include "gradus/core/detail/read_ahead.h"

namespace gradus {

class Array;

/// The memory of a contiguous array, only the beginning of a large one; nothing for any other array.
ReadAhead read_ahead(const Array& x);

/// The memory that the next backward step on this thread will read, as far as the engine knows; nothing
/// outside a backward pass.
ReadAhead next_step_reads();

}  // namespace gradus
