// A study on many ranks, which are threads here.
#include "lab/study/crew.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "gradus/core/check.h"
#include "gradus/distributed/threads.h"
#include "gradus/kit/data/files.h"
#include "in_child.h"
#include "lab/study/runner.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace crew_test {

namespace {

std::atomic<int> measured = 0;

StudyRun run_of(int number, int step) {
  return {.name = std::to_string(number) + "-" + std::to_string(step),
          .seconds = 1,
          .measure =
              [=] {
                ++measured;
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                check_input(number != 99, "no luck");
                return Measured{.numbers = {{"value", number / 3.0 + step}, {"none", INFINITY}},
                                .series = {{"losses", {1.0 / 3, NAN, step * 0.1}}},
                                .texts = {{"print", "\"" + std::to_string(number) + "\"\n"}}};
              },
          .group = std::to_string(number)};
}

/// Twelve runs, each followed by another one; with `bad`, one more, which fails.
Study twelve(bool bad) {
  Study study{.name = "twelve", .title = "", .question = "?", .plan = {}, .figures = {}, .report = {}};
  study.plan = [bad](const StudyOptions&) {
    std::vector<StudyRun> runs;
    for (int i = 0; i < 12; ++i) runs.push_back(run_of(i, 0));
    if (bad) runs.push_back(run_of(99, 0));
    return runs;
  };
  study.next = [](const StudyResults& results) {
    Following following;
    for (int i = 0; i < 12; ++i)
      if (results.has(std::to_string(i) + "-0")) following.runs.push_back(run_of(i, 1));
    return following;
  };
  return study;
}

/// The finished runs without their times.
std::multiset<std::string> lines(const std::filesystem::path& folder, const Study& study) {
  std::multiset<std::string> all;
  for (auto [name, record] : read_records(folder, study, {})) {
    record.seconds = 0;
    all.insert(line_of(name, record).json());
  }
  return all;
}

/// Returns what the runs of `ranks` ranks have left; the error goes on.
std::multiset<std::string> run_on(int ranks, const std::filesystem::path& folder, bool bad) {
  const Study study = twelve(bad);
  kit::make_folder(folder);
  if (!is_study(folder))
    write_study(folder, {.study = "twelve", .options = {}, .shard = {}, .machine = machine_facts()});
  distributed::run_threads(ranks, [&](const distributed::Communicator& world) {
    if (world.rank() > 0) {
      const int status = serve(world, [&](const std::string& name) -> const Study& {
        CHECK(name == "twelve");
        return study;
      });
      CHECK((status == 0 || bad));  // a run that is under way when another one fails is interrupted
      return;
    }
    const Crew crew(world);
    CHECK((Crew::current() != nullptr) == (ranks > 1));
    CHECK(run_study(study, read_study(folder), folder, 1));
  });
  CHECK(Crew::current() == nullptr);
  return lines(folder, study);
}

}  // namespace

TEST_CASE("crew: any number of ranks measures what one does, each run once") {
  const test::ScratchFolder base;
  measured = 0;
  const std::multiset<std::string> one = run_on(1, base / "1", false);
  CHECK(measured == 24);
  CHECK(one.size() == 24);
  for (const int ranks : {2, 3, 5}) {
    CAPTURE(ranks);
    measured = 0;
    CHECK(run_on(ranks, base / std::to_string(ranks), false) == one);
    CHECK(measured == 24);
  }
}

TEST_CASE("crew: a study goes on with other ranks") {
  const test::ScratchFolder base;
  const std::multiset<std::string> whole = run_on(1, base / "whole", false);
  run_on(3, base / "cut", false);
  const std::string text = kit::read_file(base / "cut" / "runs.jsonl");
  kit::replace_file(base / "cut" / "runs.jsonl", text.substr(0, text.size() / 3));
  measured = 0;
  CHECK(run_on(4, base / "cut", false) == whole);
  CHECK(measured > 12);
  CHECK(measured < 24);
}

TEST_CASE("crew: a run that throws ends the study with its name; finished runs stay") {
  const test::ScratchFolder base;
  for (const int ranks : {1, 4}) {
    const auto folder = base / std::to_string(ranks);
    const auto fails = [&] {
      try {
        run_on(ranks, folder, true);
      } catch (const Error& error) {
        return std::string_view(error.what()).find("99-0: no luck") != std::string_view::npos;
      }
      return false;
    };
    CHECK(test::in_child(fails) == 0);  // what interrupts a run interrupts its whole process
    CHECK(read_records(folder, twelve(true), {}).size() >= 8);
  }
}

}  // namespace crew_test
