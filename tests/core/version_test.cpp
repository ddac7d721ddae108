#include "gradus/core/version.h"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("version: the library's is that of the headers") {
  CHECK(std::string(gradus::version()) == std::to_string(GRADUS_VERSION_MAJOR) + "." +
                                              std::to_string(GRADUS_VERSION_MINOR) + "." +
                                              std::to_string(GRADUS_VERSION_PATCH));
}
