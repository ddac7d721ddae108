#include "learn/program/grade_answer.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "learn/program/lock.h"
#include "learn/program/remedies.h"

namespace gradus::learn {

namespace fs = std::filesystem;

std::string grader_source(const Exercise& exercise, const fs::path& answer) {
  std::string names;
  for (const std::string& name : exercise.forbidden) names += name + " ";
  const fs::path given = exercise.folder / "given.h";
  return fmt::format(
      "#include \"learn/grading/grading.h\"\n{}#include \"{}\"\nnamespace learn_exercise {{\n#include "
      "\"{}\"\n}}\n"
      "const char* const gradus::learn::kForbidden = \"{}\";\n",
      fs::exists(given) ? "#include \"" + given.string() + "\"\n" : "", fs::absolute(answer).string(),
      (exercise.folder / "cases.h").string(), names);
}

namespace {

/// Quotes a text as one word of a shell command.
std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Returns the command's exit status. Ctrl-C ends the command, and then this program: it says nothing about
/// the answer.
int run(const std::string& command) {
  const int ended = std::system(command.c_str());  // meanwhile only the command receives Ctrl-C
  const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : -1;
  if (status == 128 + SIGINT) kit::interrupt(SIGINT);
  kit::stop_if_interrupted();
  return status;
}

}  // namespace

std::string compile_errors(const std::string& log, const fs::path& answer, const Catalogue& words) {
  const std::string file = fs::absolute(answer).string() + ":";
  std::istringstream lines(log);
  std::string own, elsewhere, last_own;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t error = line.find("error: ");
    if (line.starts_with(file) && error != std::string::npos && count < 2) {
      const std::string said = line.substr(error + 7),
                        where = line.substr(file.size(), line.find(':', file.size()) - file.size());
      const std::string first =
          fmt::format("  {}: {}\n", words.phrase("line {line}", fmt::arg("line", where)), said);
      if (own.find(first) != std::string::npos) continue;  // the same of both sides of an operator
      own += first;
      for (int i = 0; i < 2 && lines.peek() == ' ' && std::getline(lines, line); ++i)
        own += "  " + line + "\n";
      if (const std::string text = remedy(said, words); !text.empty()) own += "    " + text + "\n";
      ++count;
    } else if (const std::size_t twice = line.find(kDefinedTwice);
               elsewhere.empty() && twice != std::string::npos) {
      elsewhere = line.substr(twice, line.find(';', twice) - twice);
    } else if (elsewhere.empty() &&
               (error != std::string::npos || line.find("undefined reference") != std::string::npos)) {
      elsewhere = line.substr(error == std::string::npos ? 0 : error + 7);
    }
  }
  if (!own.empty()) return own;
  const std::string asks =
      elsewhere.find(kUnclosed) != std::string::npos || elsewhere.find(kDefinedTwice) != std::string::npos
          ? remedy(elsewhere, words)
          : words.phrase("Do all functions have the same names, arguments and results as in the stub?");
  return "  " + (elsewhere.empty() ? words.phrase("the build failed:") + " " + log : elsewhere) + "\n    " +
         asks + "\n";
}

std::optional<std::pair<int, int>> grade_answer(const Exercise& exercise, const fs::path& answer,
                                                double limit) {
  if (fs::absolute(answer).string().find_first_of("\"\n") != std::string::npos)
    throw Error("the compiler cannot include " + answer.string() +
                ": give a folder without quotation marks in its name, --folder");
  const fs::path source = GRADUS_ANSWER_SOURCE, log = source.parent_path() / "answer.log",
                 results = source.parent_path() / "answer.txt";
  const std::string text = grader_source(exercise, answer);
  const FolderLock lock(source.parent_path(), [&] {  // all grades share one program
    kit::print(exercise.words.phrase("Another ./run learn is grading: this one waits for it.") + "\n");
  });
  if (!fs::exists(source) || text_of(source) != text) kit::replace_file(source, text);
  // In English, and with plain quotes, as compile_errors expects.
  if (run(fmt::format("LC_ALL=C {} --build {} --target learn_answer >{} 2>&1", in_quotes(GRADUS_CMAKE),
                      in_quotes(GRADUS_BUILD_FOLDER), in_quotes(log.string()))) != 0) {
    kit::print(exercise.words.phrase("It does not compile:") + "\n" +
               compile_errors(kit::read_file(log), answer, exercise.words));
    return {};
  }
  fs::remove(results);
  std::string words;
  for (const fs::path& file : exercise.catalogues) words += " --words=" + in_quotes(file.string());
  run(fmt::format("{} --seed={} --limit={} --results={}{} </dev/null", in_quotes(GRADUS_ANSWER_PROGRAM),
                  std::random_device{}() % 100000, limit, in_quotes(results.string()), words));
  std::ifstream file(results);
  int passed = 0, all = 0;
  if (!(file >> passed >> all))
    throw Error(
        "the grader stopped before its end: does a constant outside of the functions throw, crash, or take "
        "more than 10 seconds?");
  return {{passed, all}};
}

}  // namespace gradus::learn
