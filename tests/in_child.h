#pragma once
// Limits, closed streams and lost locks stay in the process they happen in.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <type_traits>

#ifdef __ELF__
extern "C" int __llvm_profile_write_file(void) __attribute__((weak));  // null, but where coverage is measured
#endif

namespace gradus::test {

/// Ends a child at once; where coverage is measured, what it ran counts.
[[noreturn]] inline void end_child(int status) {
#ifdef __ELF__
  if (__llvm_profile_write_file != nullptr) {
    const bool may_write = seteuid(getuid()) == 0;
    const rlimit none = {RLIM_INFINITY, RLIM_INFINITY}, few = {100, 100};
    if (may_write && setrlimit(RLIMIT_AS, &none) == 0 && setrlimit(RLIMIT_FSIZE, &none) == 0 &&
        setrlimit(RLIMIT_NOFILE, &few) == 0)
      __llvm_profile_write_file();
  }
#endif
  _exit(status);
}

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
    end_child(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace gradus::test
