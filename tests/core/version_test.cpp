#include "gradus/core/version.h"

#include <doctest/doctest.h>

#include <cstdio>

TEST_CASE("version is three numbers separated by dots") {
  int major = 0, minor = 0, patch = 0, length = 0;
  CHECK(std::sscanf(gradus::version(), "%d.%d.%d%n", &major, &minor, &patch, &length) == 3);
  CHECK(gradus::version()[length] == '\0');
}
