#include "learn/program/grade_answer.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/program.h"
#include "learn/program/lock.h"

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

/// The compiler's message for a namespace or a function that begins inside a function.
constexpr const char* kUnclosed = "definition is not allowed here";

/// Remedies for errors, by words in the compiler's message.
std::string remedy(const std::string& error, const Catalogue& words) {
  const std::pair<const char*, std::string> remedies[] = {
      {"was not declared",
       words.phrase(
           "Is the name spelt right? ops/ops.h lists the ops; methods are called as x.mean(-1, true).")},
      {"undeclared identifier",
       words.phrase(
           "Is the name spelt right? ops/ops.h lists the ops; methods are called as x.mean(-1, true).")},
      {"no member named",
       words.phrase("Is the name spelt right? core/tensor.h lists the methods of a Tensor.")},
      {"is not a member of", words.phrase("Is the name spelt right? ops/ops.h lists the ops.")},
      {"use of deleted function",
       words.phrase(
           "This form of the call is refused on purpose: core/tensor.h and ops/ops.h show how to call "
           "it. Sizes and axes are in braces: x.view({{2, 3}}).")},
      {"cannot decompose", words.phrase("A Shape is read by index: x.size(0) is the size of axis 0.")},
      {"or ';'", words.phrase("A semicolon is missing at the end of this line or the previous one.")},
      {"expected ';'", words.phrase("A semicolon is missing at the end of this line or the previous one.")},
      {"expected '}'", words.phrase("A brace is not closed, or the file ends in the middle of a statement.")},
      {kUnclosed, words.phrase("A brace is not closed, or the file ends in the middle of a statement.")},
      {"no matching function",
       words.phrase("The function takes different arguments: ops/ops.h has its declaration.")},
      {"no match for",
       words.phrase("These two types cannot be combined: tensor(2.0) makes a tensor from a number.")},
      {"from 'gradus::DType'",
       words.phrase(
           "The arguments come in another order: core/creation.h and ops/ops.h have the declarations.")},
      {"could not convert",
       words.phrase(
           "The types differ: item() makes a number from a tensor, tensor(2.0) a tensor from a number.")},
      {"cannot convert",
       words.phrase(
           "The types differ: item() makes a number from a tensor, tensor(2.0) a tensor from a number.")},
      {"no return statement", words.phrase("The function ends without a return.")},
      {"redefinition", words.phrase("It is defined twice.")}};
  for (const auto& [part, text] : remedies)
    if (error.find(part) != std::string::npos) return text;
  return "";
}

/// Quotes a text as one word of a shell command.
std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
      own += fmt::format("  {}: {}\n", words.phrase("line {line}", fmt::arg("line", where)), said);
      for (int i = 0; i < 2 && lines.peek() == ' ' && std::getline(lines, line); ++i)
        own += "  " + line + "\n";
      if (const std::string text = remedy(said, words); !text.empty()) own += "    " + text + "\n";
      ++count;
    } else if (elsewhere.empty() &&
               (error != std::string::npos || line.find("undefined reference") != std::string::npos)) {
      elsewhere = line.substr(error == std::string::npos ? 0 : error + 7);
    }
  }
  if (!own.empty()) return own;
  const std::string asks =
      elsewhere.find(kUnclosed) != std::string::npos
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
  if (!(file >> passed >> all)) throw Error("the grader stopped before its end");
  return {{passed, all}};
}

}  // namespace gradus::learn
