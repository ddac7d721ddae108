#include "lab/study/shards.h"

#include <doctest/doctest.h>

#include <set>

#include "gradus/core/check.h"
#include "gradus/kit/data/files.h"
#include "lab/study/runner.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

/// Eleven runs of unequal length, each of which measures its index.
Study counting() {
  Study study{
      .name = "counting", .title = "Counting", .question = "?", .plan = {}, .figures = {}, .report = {}};
  study.plan = [](const StudyOptions&) {
    std::vector<StudyRun> runs;
    for (int i = 0; i < 11; ++i)
      runs.push_back(
          {.name = "run-" + std::to_string(i), .seconds = static_cast<double>(1 + i % 4), .measure = [i] {
             return Measured{.numbers = {{"value", i + 0.5}}, .series = {{"curve", {1.0 * i, NAN, 1e300}}}};
           }});
    return runs;
  };
  return study;
}

StudyConfig config_of(const Shard& shard, std::uint64_t seed = 0) {
  return {.study = "counting", .options = {.seed = seed}, .shard = shard, .machine = {{"gradus", "1"}}};
}

std::filesystem::path run_part(const test::ScratchFolder& base, const Shard& shard, std::uint64_t seed = 0) {
  const auto folder = base / ("part-" + std::to_string(shard.index) + "-" + std::to_string(seed));
  kit::make_folder(folder);
  write_study(folder, config_of(shard, seed));
  CHECK(run_study(counting(), config_of(shard, seed), folder, 2));
  return folder;
}

}  // namespace

TEST_CASE("parts divide all runs, each once and about evenly") {
  const std::vector<StudyRun> plan = counting().plan({});
  for (const std::int64_t count : {1, 2, 3, 7, 20}) {
    std::multiset<std::string> seen;
    double least = 1e9, most = 0;
    for (std::int64_t index = 1; index <= count; ++index) {
      double seconds = 0;
      for (const StudyRun& run : part_of(plan, {index, count})) seen.insert(run.name), seconds += run.seconds;
      least = std::min(least, seconds), most = std::max(most, seconds);
    }
    CHECK(seen.size() == plan.size());
    CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == plan.size());
    CHECK(most - least <= 4);
  }
}

TEST_CASE("parts are even in time, not in number") {
  std::vector<StudyRun> plan{{.name = "long", .seconds = 10, .measure = {}}};
  for (int i = 0; i < 10; ++i)
    plan.push_back({.name = "short-" + std::to_string(i), .seconds = 1, .measure = {}});
  CHECK(part_of(plan, {1, 2}).size() == 1);
  CHECK(part_of(plan, {2, 2}).size() == 10);
}

TEST_CASE("merged parts equal the result of one machine") {
  const test::ScratchFolder base;
  const auto whole = run_part(base, {1, 1});
  const auto a = run_part(base, {2, 3}), b = run_part(base, {3, 3});
  const auto c = base / "part-1-of-3";
  kit::make_folder(c);
  write_study(c, config_of({1, 3}));
  CHECK_THROWS_WITH(merge(counting(), {a, b, c}, base / "all"),
                    doctest::Contains("runs are missing, of --shard 1/3"));
  CHECK(!std::filesystem::exists(base / "all"));
  CHECK(run_study(counting(), config_of({1, 3}), c, 1));
  const std::string lines = kit::read_file(c / "runs.jsonl");
  kit::replace_file(c / "runs.jsonl", lines.substr(lines.find('\n') + 1));
  CHECK_THROWS_WITH(merge(counting(), {a, b, c}, base / "all"),
                    doctest::Contains("merge: 1 of 11 runs is missing, of --shard 1/3"));
  kit::replace_file(c / "runs.jsonl", lines);
  merge(counting(), {b, c, a}, base / "all");
  const std::map<std::string, Record> one = read_records(whole, counting().plan({})),
                                      all = read_records(base / "all", counting().plan({}));
  REQUIRE(one.size() == 11);
  REQUIRE(all.size() == 11);
  for (const auto& [name, record] : one) {
    CHECK(all.at(name).measured.numbers == record.measured.numbers);
    CHECK(all.at(name).measured.series.at("curve")[0] == record.measured.series.at("curve")[0]);
    CHECK(std::isnan(all.at(name).measured.series.at("curve")[1]));
    CHECK(all.at(name).measured.series.at("curve")[2] == 1e300);
  }
  CHECK(read_study(base / "all").shard == Shard{});
}

TEST_CASE("merge refuses parts that do not belong together") {
  const test::ScratchFolder base;
  const auto a = run_part(base, {1, 2}), b = run_part(base, {2, 2}), other = run_part(base, {2, 2}, 5);
  CHECK_THROWS_WITH(merge(counting(), {a, a, b}, base / "x"), doctest::Contains("is in"));
  CHECK_THROWS_WITH(merge(counting(), {a, other}, base / "x"), doctest::Contains("the first seed"));
  write_study(b, {.study = "counting", .options = {}, .shard = {2, 2}, .machine = {{"gradus", "2"}}});
  CHECK_THROWS_WITH(merge(counting(), {a, b}, base / "x"), doctest::Contains("gradus"));
}

TEST_CASE("parts that began with the same bands are merged, whatever the version of their fingerprints") {
  const test::ScratchFolder base;
  const auto a = run_part(base, {1, 2}), b = run_part(base, {2, 2});
  StudyConfig first = config_of({1, 2}), second = config_of({2, 2});
  first.bands_sha256 = bands_sha256(claims(), "counting", 1);
  second.bands_sha256 = bands_sha256(claims(), "counting", 2);
  write_study(a, first);
  write_study(b, second);
  merge(counting(), {a, b}, base / "all");
  CHECK(read_study(base / "all").bands_sha256 == first.bands_sha256);
  second.bands_sha256 = "2:0";
  write_study(b, second);
  CHECK_THROWS_WITH(merge(counting(), {a, b}, base / "x"), doctest::Contains("bands with the fingerprint"));
}

TEST_CASE("an interrupted study continues, and other files are refused") {
  const test::ScratchFolder base;
  const auto folder = run_part(base, {1, 1});
  const std::string whole = kit::read_file(folder / "runs.jsonl");
  kit::replace_file(folder / "runs.jsonl", whole.substr(0, whole.size() / 2));  // in the middle of a line
  CHECK(read_records(folder, counting().plan({})).size() == 5);
  CHECK(run_study(counting(), config_of({}), folder, 2));
  CHECK(read_records(folder, counting().plan({})).size() == 11);

  const auto refused = [&](const std::string& text, const char* message) {
    kit::replace_file(folder / "runs.jsonl", text);
    CHECK_THROWS_WITH(read_records(folder, counting().plan({})), doctest::Contains(message));
  };
  refused("{\"run\":\"run-1\",\"seconds\":1}\n{\"run\":\"run-1\",\"seconds\":1}\n", "occurs twice");
  refused("{\"run\":\"run-77\",\"seconds\":1}\n", "the study has no such runs: run-77");
  std::string many;
  for (int i = 70; i < 77; ++i) many += "{\"run\":\"run-" + std::to_string(i) + "\",\"seconds\":1}\n";
  refused(
      many,
      "the study has no such runs: run-70, run-71, run-72 and 4 more; they are of another version, study or "
      "seed, or of other settings: start a new folder");
  refused("{\"seconds\":1}\n", "line 1 is not as the lab writes it");
  refused("\n{\"run\":\"run-1\",\"seconds\":1e400}\n",
          "runs.jsonl line 2: the number '1e400' is out of range");
  refused("\n{\"run\":\"run-1\",\"seconds\":\"x\"}\n", "runs.jsonl: line 2 is not as the lab writes it");
  const std::string config = kit::read_file(folder / "study.json");
  for (const char* part : {"1e30", "1.5", "true", "\"1\"", "1e400"}) {
    std::string changed = config;
    const std::size_t at = changed.find("\"shard\"");
    REQUIRE(at != std::string::npos);
    changed.replace(changed.find('1', at), 1, part);
    kit::replace_file(folder / "study.json", changed);
    CHECK_THROWS_WITH_AS(read_study(folder), doctest::Contains("study.json: "), Error);
  }
  kit::replace_file(folder / "study.json", "{\"study\": 3}");
  CHECK_THROWS_WITH(read_study(folder), doctest::Contains("study.json: not as the lab writes it"));
}

TEST_CASE("a folder whose series are texts is reported as one of an older version") {
  const test::ScratchFolder base;
  write_study(base.path(), config_of({}));
  kit::replace_file(base / "runs.jsonl", "{\"run\":\"run-1\",\"seconds\":1,\"curve\":\"1 2 3\"}\n");
  const StudyResults results{.options = {}, .records = read_records(base.path(), counting().plan({}))};
  const std::string place = (base / "runs.jsonl").string() + ": line 1: ";
  CHECK_THROWS_WITH(results.series("run-1", "curve"),
                    (place + "run 'run-1' has a text where a series 'curve' is expected: it is of an older "
                             "version of the lab")
                        .c_str());
  CHECK_THROWS_WITH(results.series("run-1", "other"), (place + "run 'run-1' has no series 'other'").c_str());
}

TEST_CASE("a number of a record keeps every bit, a value of a series six digits") {
  const test::ScratchFolder base;
  write_study(base.path(), config_of({}));
  const Record record{.measured = {.numbers = {{"value", 1.0 / 3}},
                                   .series = {{"curve", {1.0 / 3, 2}}},
                                   .texts = {{"word", "x y"}}}};
  kit::replace_file(base / "runs.jsonl", line_of("run-1", record).json() + "\n");
  const Measured back = read_records(base.path(), counting().plan({})).at("run-1").measured;
  CHECK(back.numbers.at("value") == 1.0 / 3);
  CHECK(back.series.at("curve") == std::vector{0.333333, 2.0});
  CHECK(back.texts.at("word") == "x y");
}

TEST_CASE("runs of a lower round come first, and the longest first within a round") {
  Study study = counting();
  study.plan = [](const StudyOptions&) {
    std::vector<StudyRun> runs;
    for (const auto& [name, seconds, round] : {std::tuple("c", 9.0, 1), {"b", 1.0, 0}, {"a", 2.0, 0}})
      runs.push_back(
          {.name = name, .seconds = seconds, .round = static_cast<std::uint64_t>(round), .measure = [] {
             return Measured{};
           }});
    return runs;
  };
  const test::ScratchFolder base;
  CHECK(run_study(study, config_of({}), base.path(), 1));
  std::string order;
  for (const kit::LogLine& line : kit::read_run_log(base / "runs.jsonl")) order += line["run"].text();
  CHECK(order == "abc");
}

TEST_CASE("an error of a run names the run") {
  Study study = counting();
  study.plan = [](const StudyOptions&) {
    return std::vector<StudyRun>{
        {.name = "bad", .seconds = 1, .measure = []() -> Measured { fail_with("no such thing"); }}};
  };
  const test::ScratchFolder base;
  CHECK_THROWS_WITH(run_study(study, config_of({}), base.path(), 1), "bad: no such thing");
}
