#pragma once
// Running out of addresses, as under ulimit -v. For child processes (in_child.h).

#include <sys/resource.h>

#include <cstddef>
#include <fstream>

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

}  // namespace gradus::test
