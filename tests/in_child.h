#pragma once
// Limits, closed streams and lost locks stay in the process they happen in.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <type_traits>

namespace gradus::test {

/// What f() returns in a child process: an exit status, or true for 0 and false for 1; 99 where it throws, -1
/// where it is killed, which happens after five minutes: who waits for a lost lock waits for ever.
template <class F>
int in_child(F f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(300);
    int status = 99;
    try {
      if constexpr (std::is_same_v<decltype(f()), bool>)
        status = f() ? 0 : 1;
      else
        status = f();
    } catch (...) {
    }
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace gradus::test
