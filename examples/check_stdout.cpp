// Linked into every single-file example: if its output could not be written, its exit status says so. The
// check is separate, to keep the example's source simple.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>  // its streams must outlive the handler registered below: they flush stdout when destroyed

namespace {

void check_stdout() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  std::fprintf(stderr, "cannot write to stdout%s%s\n", errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  _exit(1);
}

[[maybe_unused]] const int registered = std::atexit(check_stdout);

}  // namespace
