#include "gradus/kit/data/detail/run_log.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;

TEST_CASE("metrics are one flushed line each, keys in order") {
  const test::ScratchFolder folder;
  MetricsWriter metrics(folder / "m.jsonl");
  metrics.write({{"step", 1}, {"loss", 2.5}});
  CHECK(read_file(folder / "m.jsonl") == "{\"step\":1,\"loss\":2.5}\n");  // while the writer is open
  metrics.write({{"step", 2}, {"a", "\xff"}});                            // bad UTF-8 does not throw
  CHECK(read_metrics(folder / "m.jsonl").size() == 2);
}

TEST_CASE("a loss that is not finite is null and says at which step") {
  const test::ScratchFolder folder;
  MetricsWriter metrics(folder / "m.jsonl");
  metrics.write(
      {{"step", 7}, {"loss", std::nan("")}, {"norms", {1.0, std::numeric_limits<double>::infinity()}}});
  metrics.write({{"step", 8}, {"loss", nullptr}});
  metrics.write({{"step", 9}, {"norm", std::nan("")}});
  const auto lines = read_metrics(folder / "m.jsonl");
  CHECK(lines[0].dump() == R"({"step":7,"loss":null,"norms":[1.0,null],"diverged_at":7})");
  CHECK(lines[1].dump() == R"({"step":8,"loss":null})");
  CHECK(lines[2].dump() == R"({"step":9,"norm":null})");
}

TEST_CASE("every cut of the last line is tolerated, and appending goes on after it") {
  const test::ScratchFolder folder;
  const std::string first = "{\"step\":1}\n";
  const std::string second = "{\"step\":2,\"loss\":1.25}\n";
  for (std::size_t cut = 0; cut <= second.size(); ++cut) {
    CAPTURE(cut);
    replace_file(folder / "m.jsonl", first + second.substr(0, cut));
    const std::size_t whole = cut + 1 >= second.size() ? 2 : 1;  // only the newline may be missing
    CHECK(read_metrics(folder / "m.jsonl").size() == whole);
    MetricsWriter(folder / "m.jsonl").write({{"step", 3}});
    const auto lines = read_metrics(folder / "m.jsonl");
    REQUIRE(lines.size() == whole + 1);
    CHECK(lines.back()["step"] == 3);
  }
}

TEST_CASE("other broken lines are errors with file and line") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "m.jsonl").string();
  replace_file(path, "{\"step\":1}\nnonsense\n{\"step\":2}\n");
  CHECK_THROWS_WITH_AS(read_metrics(path),
                       ("read_metrics: " + path + " line 2: expects a JSON object, got: nonsense").c_str(),
                       Error);
  CHECK(read_metrics(folder / "none.jsonl").empty());
  MetricsWriter metrics(folder / "n.jsonl");
  CHECK_THROWS_WITH_AS(metrics.write(Json(3)), "MetricsWriter: expects a JSON object, got 3", Error);
}

TEST_CASE("JSON too deep to print is refused, not printed") {
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
  replace_file(folder / "m.jsonl", "{\"a\":" + nested(1'000'000) + "}\n{}\n");
  CHECK_THROWS_AS(read_metrics(folder / "m.jsonl"), Error);
}

TEST_CASE("what a file says reaches the terminal without its control characters") {
  const test::ScratchFolder folder;
  replace_file(folder / "m.jsonl", "\x1b[31mred\xff\n{}\n");
  const std::string path = (folder / "m.jsonl").string();
  CHECK_THROWS_WITH_AS(read_metrics(path),
                       ("read_metrics: " + path + " line 1: expects a JSON object, got: ?[31mred?").c_str(),
                       Error);
}

TEST_CASE("JSON files are replaced whole and read back") {
  const test::ScratchFolder folder;
  write_json(folder / "s.json",
             {{"z", 1}, {"a", {0.5, true}}, {"inf", std::numeric_limits<double>::infinity()}});
  CHECK(read_json(folder / "s.json").dump() == R"({"z":1,"a":[0.5,true],"inf":null})");
  replace_file(folder / "bad.json", "{\"a\": 1,");
  CHECK_THROWS_AS(read_json(folder / "bad.json"), Error);
}
