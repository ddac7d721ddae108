#pragma once

#include "gradus/core/cxx20.h"

// The version of the headers, for #if. CMake reads these lines: packages, pkg-config files and the site get it from here.
#define GRADUS_VERSION_MAJOR 0
#define GRADUS_VERSION_MINOR 1
#define GRADUS_VERSION_PATCH 0

namespace gradus {

/// The version of the library in use, such as "0.1.0".
const char* version();

}  // namespace gradus
