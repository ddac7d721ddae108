#include "gradus/core/version.h"

#include <doctest/doctest.h>

#include <regex>

TEST_CASE("version is three numbers with dots between") {
  CHECK(std::regex_match(gradus::version(), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+")));
}
