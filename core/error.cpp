#include "gradus/core/error.h"

#include "gradus/core/tape/scope.h"

namespace gradus {

void fail(const std::string& message) {
  const std::string path = current_scope();
  throw Error(path.empty() ? message : message + " (in " + path + ")");
}

}  // namespace gradus
