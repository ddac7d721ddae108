// Studies whose finished runs decide which runs follow.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "gradus/kit/data/files.h"
#include "lab/study/runner.h"
#include "lab/study/shards.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace following_test {

namespace {

StudyRun run_of(const std::string& group, int step) {
  return {.name = group + "-" + std::to_string(step),
          .seconds = 1,
          .measure =
              [=] {
                return Measured{.numbers = {{"value", step + 0.5}}, .series = {}};
              },
          .group = group};
}

/// Three groups of one run each; run n of a group is followed by run n + 1 until its value is above the
/// limit.
Study climbing() {
  Study study{
      .name = "climbing", .title = "Climbing", .question = "?", .plan = {}, .figures = {}, .report = {}};
  study.plan = [](const StudyOptions&) {
    return std::vector<StudyRun>{run_of("a", 0), run_of("b", 0), run_of("c", 0)};
  };
  study.next = [](const StudyResults& results) {
    Following following;
    for (const auto& [group, limit] : {std::pair<std::string, double>{"a", 2}, {"b", 3}, {"c", 1}})
      for (int step = 0; step < 5; ++step)
        if (const std::string run = group + "-" + std::to_string(step);
            results.has(run) && results.number(run, "value") < limit)
          following.runs.push_back(run_of(group, step + 1));
    following.seconds_later = 5;
    return following;
  };
  return study;
}

std::filesystem::path folder_with(const test::ScratchFolder& base, const std::string& name,
                                  const Shard& shard) {
  kit::make_folder(base / name);
  write_study(base / name,
              {.study = "climbing", .options = {}, .shard = shard, .machine = {{"gradus", "1"}}});
  return base / name;
}

std::set<std::string> names(const std::filesystem::path& folder) {
  std::set<std::string> all;
  for (const auto& [name, record] : read_records(folder, climbing(), {})) all.insert(name);
  return all;
}

const std::set<std::string> kAll = {"a-0", "a-1", "a-2", "b-0", "b-1", "b-2", "b-3", "c-0", "c-1"};

}  // namespace

TEST_CASE("runs that follow are run, by any number of threads") {
  for (const std::int64_t threads : {1, 3}) {
    const test::ScratchFolder base;
    const auto folder = folder_with(base, "whole", {});
    const StudyConfig config = read_study(folder);
    CHECK(seconds_left(climbing(), config, folder, 1) == 8);  // three, and five for later runs
    CHECK(run_study(climbing(), config, folder, threads));
    CHECK(names(folder) == kAll);
    const StudyFolder read = read_folder(folder, [](const std::string&) -> const Study& {
      static const Study study = climbing();
      return study;
    });
    CHECK(read.results.complete());
    CHECK(read.results.planned == 9);
  }
}

TEST_CASE("an interrupted study continues with the runs that follow from its records") {
  const test::ScratchFolder base;
  const auto folder = folder_with(base, "cut", {});
  const StudyConfig config = read_study(folder);
  CHECK(run_study(climbing(), config, folder, 1));
  const std::string whole = kit::read_file(folder / "runs.jsonl");
  kit::replace_file(folder / "runs.jsonl", whole.substr(0, whole.size() / 2));
  CHECK(names(folder).size() == 4);
  CHECK(run_study(climbing(), config, folder, 2));
  CHECK(names(folder) == kAll);
}

TEST_CASE("a run that follows from no other is not part of the study") {
  const test::ScratchFolder base;
  const auto folder = folder_with(base, "odd", {});
  const auto line = [](const char* run, double value) {
    return fmt::format("{{\"run\":\"{}\",\"seconds\":1,\"value\":{}}}\n", run, value);
  };
  kit::replace_file(folder / "runs.jsonl", line("a-0", 0.5) + line("a-2", 2.5));
  CHECK_THROWS_WITH(names(folder), doctest::Contains("the study has no such runs: a-2;"));
  // Nothing follows a-0, so a-1 is none of the study, and a-2, which would follow from it, neither.
  kit::replace_file(folder / "runs.jsonl", line("a-0", 9) + line("a-1", 0.5) + line("a-2", 2.5));
  CHECK_THROWS_WITH(names(folder), doctest::Contains("the study has no such runs: a-1, a-2;"));
}

TEST_CASE("a part finishes its own groups, and the parts make the whole") {
  const test::ScratchFolder base;
  std::vector<std::filesystem::path> parts;
  for (std::int64_t index = 1; index <= 2; ++index) {
    parts.push_back(folder_with(base, "part-" + std::to_string(index), {index, 2}));
    if (index == 2) {
      CHECK_THROWS_WITH(merge(climbing(), parts, base / "all"),
                        doctest::Contains("1 of 6 runs is missing, of --shard 2/2"));
    }
    CHECK(run_study(climbing(), read_study(parts.back()), parts.back(), 2));
  }
  std::set<std::string> first = names(parts[0]), second = names(parts[1]);
  CHECK(!first.empty());
  CHECK(!second.empty());
  CHECK(first.size() + second.size() == kAll.size());
  merge(climbing(), parts, base / "all");
  CHECK(names(base / "all") == kAll);
}

}  // namespace following_test
