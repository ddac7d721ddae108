#pragma once
// Running a program and reading what it prints.

#include <string>
#include <utility>
#include <vector>

namespace gradus::bench {

struct Command {
  std::vector<std::string> words;  // the program, looked up on PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> environment{};  // set beside what there is
  bool quiet = false;                                              // what it writes to stderr is thrown away
};

struct Output {
  int status = 0;  // 127: there is no such program; 128 + n: ended by signal n
  std::string text{};
  double peak_rss_mb = 0;
};

/// Waits until the program has ended.
Output run(const Command& command);

}  // namespace gradus::bench
