#pragma once
// Runs independent work on several threads.

#include <cstdint>
#include <functional>

namespace gradus::lab {

/// Calls `work` on this thread and `threads` - 1 others, or as many as the system allows, at the same time,
/// each without the pool; returns when all are done and throws the first error of any.
void side_by_side(std::int64_t threads, const std::function<void()>& work);

}  // namespace gradus::lab
