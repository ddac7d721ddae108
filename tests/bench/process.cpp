#include "bench/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace gradus::bench {

namespace {

[[noreturn]] void become(const Command& command, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would read what it measures
  if (getppid() != parent) _exit(1);
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
  dup2(out, STDOUT_FILENO);
  if (command.quiet) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

Output run(const Command& command) {
  int ends[2];
  std::fflush(nullptr);
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("bench: cannot make a pipe");
  const pid_t self = getpid(), child = fork();
  if (child == 0) become(command, ends[1], self);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw std::runtime_error("bench: cannot start " + command.words[0]);
  }
  Output output;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) < 0) throw std::runtime_error("bench: lost " + command.words[0]);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  output.peak_rss_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  return output;
}

}  // namespace gradus::bench
