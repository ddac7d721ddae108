#pragma once
// System calls shared by reading and writing files.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/printable.h"

namespace gradus::io {

// One call may move at most 2 GiB on Linux.
inline constexpr std::size_t kLargestCall = std::size_t{1} << 30;

/// Repeats f() as long as a signal interrupts it.
template <class F>
auto retrying(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

/// "load_npy: weights.npy". Throws for an invalid path: an empty string, or one with a zero byte, where the
/// system would cut it off.
inline std::string label_of(const char* op, const std::string& path) {
  check_input(!path.empty(), "{}: the path is empty", op);
  check_input(path.find('\0') == std::string::npos, "{}: path {} has a zero byte", op, quote(path));
  return fmt::format("{}: {}", op, printable(path));
}

/// Its description, with article.
inline const char* kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace gradus::io
