#include "learn/check_exercise.h"

namespace gradus::learn {

const char* const kForbidden = "";

namespace {
std::string listed(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& words : problems) text += "\n  " + words;
  return text;
}
}  // namespace

void check_stub(const std::string& name, const Check& run) {
  const std::vector<std::string> problems = run(1);
  CHECK_MESSAGE((problems.size() == 1 && problems[0].starts_with("not written yet")), name,
                ": on the stub:", listed(problems));
}

void check_solution(const std::string& name, const Check& run) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<std::string> problems = run(seed);
    CHECK_MESSAGE(problems.empty(), name, ": fails on the solution:", listed(problems));
  }
}

void check_mutant(const std::string& mutant, const std::string& name, bool named, const Check& run) {
  for (const std::uint64_t seed : {1, 2}) {
    const std::vector<std::string> problems = run(seed);
    if (named)
      CHECK_MESSAGE(!problems.empty(), name, ": passes on ", mutant);
    else
      CHECK_MESSAGE(problems.empty(), name, ": fails on ", mutant, " too:", listed(problems));
  }
}

}  // namespace gradus::learn
