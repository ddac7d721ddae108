#pragma once

#include "gradus/core/cxx20.h"

namespace gradus {

/// The version of the library in use, such as "0.1.0".
const char* version();

}  // namespace gradus
