#pragma once
// Limits, closed streams and lost locks stay in the process they happen in.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <type_traits>

namespace gradus::test {

inline constexpr std::size_t MiB = std::size_t{1} << 20;

/// What this process maps may grow by `more` bytes; without a number, as much as it likes.
inline bool limit_memory(std::size_t more = 0) {
  std::size_t pages = 0;
  if (more > 0) std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = more > 0 ? pages * 4096 + more : limit.rlim_max;
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Under a limit the stack could not grow, which is no error but a crash: products keep blocks of theirs
/// there.
[[gnu::noinline]] inline bool grow_stack() {
  volatile char stack[2 * MiB];
  stack[0] = 1;
  return stack[0] == 1;
}

/// What f() returns in a child process: an exit status, or true for 0 and false for 1; 99 where it throws, -1
/// where it is killed, which happens after half a minute: who waits for a lost lock waits for ever.
template <class F>
int in_child(F f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(30);
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
