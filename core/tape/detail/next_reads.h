#pragma once
// Reading ahead. What forward saved in a deep model has left the cache when backward comes for it:
// most ops wait for it, while a product leaves the memory idle and can fetch what comes next.

#include "gradus/core/detail/read_ahead.h"

namespace gradus {

class Array;

/// The memory of a contiguous array, of a large one its beginning; nothing for any other array.
ReadAhead read_ahead(const Array& x);

/// What the step of backward after the one that runs on this thread will read, as far as the engine knows;
/// nothing outside of a backward pass.
ReadAhead next_step_reads();

}  // namespace gradus
