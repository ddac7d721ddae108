#include "gradus/kit/program/interrupt.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gradus/kit/program/detail/ending.h"

using namespace gradus::kit;

namespace {

struct Outcome {
  int status = 0;
  std::string said;
};

// Runs `child` in a separate process and captures its stderr.
template <class Child>
Outcome outcome_of(Child child) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    dup2(ends[1], STDERR_FILENO);
    child();
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  char byte = 0;
  while (read(ends[0], &byte, 1) == 1) outcome.said += byte;
  close(ends[0]);
  waitpid(process, &outcome.status, 0);
  return outcome;
}

bool ended_by(int signal_number, int status) {
#ifdef __SANITIZE_THREAD__  // runs handlers with all signals blocked: as in the first process of a container
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 128 + signal_number;
#endif
  return WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
}

}  // namespace

TEST_CASE("the first signal sets the flag and prints a message") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Outcome outcome = outcome_of([number] {
      catch_interrupts();
      if (interrupted()) _exit(10);
      raise(number);
      _exit(interrupted() ? interrupt_status() : 11);
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 128 + number);
    CHECK(outcome.said == "\nStopping after this step. Ctrl-C again ends at once.\n");
  }
}

TEST_CASE("the second signal ends the program") {
  const Outcome outcome = outcome_of([] {
    catch_interrupts();
    raise(SIGINT);
    raise(SIGINT);
    _exit(0);
  });
  CHECK(ended_by(SIGINT, outcome.status));
}

TEST_CASE("a second signal with the same cause is ignored") {
  const Outcome outcome = outcome_of([] {
    catch_interrupts();
    raise(SIGHUP);  // the terminal's
    raise(SIGHUP);  // its shell's
    raise(SIGTERM);
    _exit(interrupt_status());
  });
  REQUIRE(WIFEXITED(outcome.status));
  CHECK(WEXITSTATUS(outcome.status) == 128 + SIGHUP);
}

TEST_CASE("an uncaught signal ends the program at once, also one ignored by its parent") {
  for (const bool after : {false, true}) {
    const Outcome outcome = outcome_of([after] {
      signal(SIGINT, SIG_IGN);  // as a shell does in the background
      if (after) catch_interrupts();
      end_on_interrupts();
      raise(SIGINT);
      _exit(0);
    });
    CHECK(ended_by(SIGINT, outcome.status));
    CHECK(outcome.said.empty());
  }
}

TEST_CASE("SIGHUP stays ignored under nohup") {
  const Outcome outcome = outcome_of([] {
    signal(SIGHUP, SIG_IGN);
    catch_interrupts();
    raise(SIGHUP);
    _exit(interrupted() ? 1 : 0);
  });
  CHECK(outcome.status == 0);
}

TEST_CASE("work without a partial result throws Interrupted") {
  const Outcome outcome = outcome_of([] {
    stop_if_interrupted();
    interrupt(SIGTERM);
    interrupt(SIGINT);  // the first one counts
    try {
      stop_if_interrupted();
    } catch (const Interrupted&) {
      _exit(interrupt_status());
    }
    _exit(1);
  });
  REQUIRE(WIFEXITED(outcome.status));
  CHECK(WEXITSTATUS(outcome.status) == 143);
  CHECK(outcome.said.empty());
}
