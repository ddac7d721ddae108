#include "gradus/kit/data/system_info.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

using namespace gradus::kit;

TEST_CASE("system_info has all facts and nothing private") {
  const char* home = std::getenv("HOME");
  std::string keys;
  for (const auto& fact : system_info()) {
    const std::string& key = fact.first;
    const std::string& value = fact.second;
    CAPTURE(key);
    keys += key + " ";
    CHECK_FALSE(value.empty());
    CHECK(value.find('\n') == std::string::npos);
    if (home != nullptr && std::string(home).size() > 1) CHECK(value.find(home) == std::string::npos);
    if (key == "cores") CHECK(std::stoi(value) >= 1);
    if (key == "date") CHECK(value.ends_with(" UTC"));
  }
  CHECK(keys == "processor cores memory system compiler date ");
}
