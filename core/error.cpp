#include "gradus/core/error.h"

#include "gradus/core/detail/place.h"

namespace gradus {

void fail(const std::string& message) {
  const std::string path = detail::place;
  throw Error(path.empty() ? message : message + " (in " + path + ")");
}

}  // namespace gradus
