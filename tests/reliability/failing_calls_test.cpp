// Every call that changes files fails once, in each kind of file that programs keep: the old file or the new
// one is there, whole, and the message names it. Weights and checkpoints: core/io/faults_test.cpp.

#include <doctest/doctest.h>
#include <errno.h>

#include <functional>
#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/run_log.h"
#include "lab/study/records.h"
#include "learn/program/progress.h"
#include "reliability/disk.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

constexpr int kShort = 0;  // no error: a write that writes half

/// Calls begin() and change() with the first, second, ... call of change() failing, then check(message): ""
/// where it threw nothing. Returns how many calls failed.
int with_every_call_failing(int error, const std::function<void()>& begin,
                            const std::function<void()>& change,
                            const std::function<void(const std::string&)>& check) {
  bool struck = true;
  int calls = 0;
  for (int n = 0; struck; ++n) {
    begin();
    std::string message;
    {
      const FailingCall failing(n, error);
      try {
        change();
      } catch (const Error& problem) {
        message = problem.what();
      }
      struck = failing.struck();
    }
    CAPTURE(error);
    CAPTURE(n);
    if (error == kShort || error == EINTR || !struck) CHECK(message == "");
    check(message);
    calls += struck;
    REQUIRE(n < 1000);
  }
  return calls;
}

constexpr int kErrors[] = {ENOSPC, EIO, EDQUOT, EROFS, EINTR, kShort};

learn::Exercise exercise() {
  learn::Exercise one;
  one.name = "11_layer_norm";
  one.folder = source_file("examples/course/11_layer_norm");
  return one;
}

}  // namespace

TEST_CASE("failing calls: files of studies, learners and programs are the old or the new ones") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path(), text = folder / "x.txt";
  const auto study = [&](std::int64_t part) {
    lab::write_study(folder,
                     {.study = "rates", .options = {}, .shard = {part, 3}, .machine = {{"gradus", "0.1"}}});
  };
  const auto graded = [&](int passed) { learn::Progress(exercise(), folder).set_cases(passed, 5); };
  struct Kept {
    fs::path file;
    std::function<void()> begin, change;
  };
  const std::vector<Kept> all = {
      {text, [&] { put(text, "old"); }, [&] { kit::replace_file(text, std::string(3000, 'n')); }},
      {folder / "study.json", [&] { study(1); }, [&] { study(2); }},
      {folder / "11_layer_norm.json", [&] { graded(1); }, [&] { graded(5); }},
  };
  int calls = 0;
  for (const Kept& kept : all) {
    kept.begin();
    const std::string before = bytes_of(kept.file);
    kept.change();
    const std::string after = bytes_of(kept.file);
    REQUIRE(before != after);
    CAPTURE(kept.file.string());
    for (const int error : kErrors)
      calls += with_every_call_failing(error, kept.begin, kept.change, [&](const std::string& message) {
        const std::string found = bytes_of(kept.file);
        CHECK((found == after || (found == before && message != "")));
        CHECK((message == "" || message.find(folder.string()) != std::string::npos));
      });
  }
  MESSAGE(calls << " failing calls");
  CHECK(calls > 60);
}

TEST_CASE("failing calls: a log keeps its lines, and has the new one unless that is an error") {
  const ScratchFolder folder;
  const fs::path log = folder / "runs.jsonl";
  const std::string line = R"({"run":"a","seconds":1})"
                           "\n";
  int calls = 0;
  for (const std::string& before : {line, line + R"({"run":"c)"})  // the second ends with half a line
    for (const int error : kErrors)
      calls += with_every_call_failing(
          error, [&] { put(log, before); },
          [&] {
            kit::RunLog(log).write({{"run", "b"}});
          },
          [&](const std::string& message) {
            const kit::LogLines lines = kit::read_run_log(log);
            REQUIRE(lines.size() >= 1);
            CHECK(lines[0]["run"].text() == "a");
            CHECK(lines.size() <= 2);
            CHECK((lines.size() == 2 || message != ""));
            CHECK((message == "" || message.find(folder.path().string()) != std::string::npos));
          });
  MESSAGE(calls << " failing calls");
  CHECK(calls > 20);
}

}  // namespace gradus::test
