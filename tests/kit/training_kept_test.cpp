// A training that cannot save or read its files: its exit status, and messages that name the file.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/training_run.h"
#include "in_child.h"
#include "support.h"

using namespace gradus;

namespace {

/// Limits the size of all files of this process.
void leave_room_for(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

enum class Lost { nothing, middle, end, losses };

/// The exit status of a program that trains six steps, with a checkpoint after the third and the last; this
/// is lost.
int status_of_training(Lost lost, int signal_in_last_step, const std::function<int()>& after) {
  const test::ScratchFolder folder;
  const auto work = [&] {
    kit::TrainingRun run({.steps = 6, .folder = folder / "run", .checkpoint_steps = 3});
    run.train([&](std::int64_t step) -> kit::StepResult {
      if (step == 3 && lost == Lost::middle) leave_room_for(200);  // all losses, and no checkpoint
      if (step == 4 && lost == Lost::middle) leave_room_for(RLIM_INFINITY);
      if (step == 6 && lost == Lost::end) leave_room_for(200);
      if (step == 6 && lost == Lost::losses) {
        run.log({{"note", std::string(10'000, 'x')}});
        leave_room_for(9'000);  // a checkpoint, but no more lines
      }
      if (step == 6 && signal_in_last_step != 0) raise(signal_in_last_step);
      return {1.0};
    });
    if (run.kept() != (lost == Lost::nothing || lost == Lost::middle)) return 50;
    return after();
  };
  return test::in_child([&] {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);  // which may be a file, too
    return kit::run_program("test", work);
  });
}

}  // namespace

TEST_CASE("a training whose end is not saved has its own exit status") {
  const auto status = [](Lost lost, int signal_in_last_step) {
    return status_of_training(lost, signal_in_last_step, kit::interrupt_status);
  };
  CHECK(status(Lost::nothing, 0) == 0);
  CHECK(status(Lost::middle, 0) == 0);
  CHECK(status(Lost::end, 0) == kit::status_not_kept);
  CHECK(status(Lost::losses, 0) == kit::status_not_kept);
  CHECK(status(Lost::nothing, SIGTERM) == 143);
  CHECK(status(Lost::end, SIGTERM) == kit::status_not_kept);
  CHECK(kit::status_not_kept == 3);
  // Another error has precedence.
  CHECK(status_of_training(Lost::end, 0, []() -> int { fail("another error"); }) == 1);
  CHECK(status_of_training(Lost::end, 0, [] { return 7; }) == 7);
}

TEST_CASE("a training without a folder keeps nothing, which is not an error") {
  CHECK(test::in_child([] {
          dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
          return kit::run_program("test", [] {
            kit::TrainingRun run({.steps = 1});
            run.train([](std::int64_t) -> kit::StepResult { return {1.0}; });
            return run.kept() ? 50 : 0;
          });
        }) == 0);
}

TEST_CASE("a training that resumes names the file and line of losses it cannot read") {
  const auto step = [](std::int64_t) -> kit::StepResult { return {1.0}; };
  for (const auto& [line, reason] :
       {std::pair("{\"step\":2,\"loss\":1e400}", "losses.jsonl line 2: the number '1e400' is out of range"),
        {"{\"step\":\"two\"}\n", "losses.jsonl line 2: \"step\": LogValue: expects a number, got "},
        {"words\n", "losses.jsonl line 2: expects a JSON object, got 'words'"}}) {
    const test::ScratchFolder folder;
    kit::TrainingRun({.steps = 1, .folder = folder / "run"}).train(step);
    const std::filesystem::path losses = folder / "run/losses.jsonl";
    kit::replace_file(losses, kit::read_file(losses) + line);
    kit::TrainingRun run({.steps = 2, .folder = folder / "run", .resume = true});
    CHECK_THROWS_WITH_AS(run.train(step), doctest::Contains(reason), Error);
  }
}
