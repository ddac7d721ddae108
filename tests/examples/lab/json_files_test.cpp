#include "lab/study/json_files.h"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;
using kit::replace_file;

TEST_CASE("JSON nested too deep to print is rejected") {
  const test::ScratchFolder folder;
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  replace_file(folder / "deep.json", nested(1'000'000));
  const std::string path = (folder / "deep.json").string();
  CHECK_THROWS_WITH_AS(
      read_json(path),
      ("read_json: " + path + ": expects at most 64 lists and objects inside each other").c_str(), Error);
  replace_file(folder / "deep.json", nested(60));
  CHECK(read_json(path).is_array());
}

TEST_CASE("JSON files are replaced atomically and read back") {
  const test::ScratchFolder folder;
  write_json(folder / "s.json",
             {{"z", 1}, {"a", {0.5, true}}, {"inf", std::numeric_limits<double>::infinity()}});
  CHECK(read_json(folder / "s.json").dump() == R"({"z":1,"a":[0.5,true],"inf":null})");
  replace_file(folder / "bad.json", "{\"a\": 1,");
  CHECK_THROWS_AS(read_json(folder / "bad.json"), Error);
}
