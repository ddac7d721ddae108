#include "gradus/core/version.h"

namespace gradus {

const char* version() { return GRADUS_VERSION; }  // CMakeLists.txt defines it from project()

}  // namespace gradus
