#include "gradus/kit/data/system_info.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gradus/kit/data/detail/value_in.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
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

TEST_CASE("value_in: the first value of a key, without quotes") {
  const test::ScratchFolder folder;
  const std::filesystem::path file = folder / "facts";
  replace_file(file,
               "no separator\nNAME=\"Plain\"\nEMPTY=\nQUOTES=\"\"\nEMPTY=\t\"a b\"  \nmodel name\t: A : B\n"
               "NAME=later\nLAST=x");
  CHECK(value_in(file, "NAME", '=', "none") == "Plain");
  CHECK(value_in(file, "EMPTY", '=', "none") == "a b");  // of the next line, as the first has none
  CHECK(value_in(file, "QUOTES", '=', "none") == "none");
  CHECK(value_in(file, "model name", ':', "none") == "A : B");
  CHECK(value_in(file, "LAST", '=', "none") == "x");
  CHECK(value_in(file, "no separator", '=', "none") == "none");
  CHECK(value_in(file, "OTHER", '=', "none") == "none");
  CHECK(value_in(folder / "missing", "NAME", '=', "none") == "none");
}
