#include "gradus/core/version.h"

#define GRADUS_TEXT(value) #value
#define GRADUS_DOTTED(major, minor, patch) GRADUS_TEXT(major) "." GRADUS_TEXT(minor) "." GRADUS_TEXT(patch)

namespace gradus {

const char* version() {
  return GRADUS_DOTTED(GRADUS_VERSION_MAJOR, GRADUS_VERSION_MINOR, GRADUS_VERSION_PATCH);
}

}  // namespace gradus
