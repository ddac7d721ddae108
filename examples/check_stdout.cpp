// Linked into every example of one file: what it printed has arrived, or its exit status says that it has not.
// Its own text says nothing of this: a first program has other things to teach.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>  // its streams must outlive what is registered below: they flush stdout at their end

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
