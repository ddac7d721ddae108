#pragma once
// The checks DetectAnomaly turns on.

#include "gradus/core/array/array.h"

namespace gradus::detail {

extern constinit thread_local bool anomaly;
bool has_nan(const Array& x);

}  // namespace gradus::detail
