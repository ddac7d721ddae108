#include "learn/program/forbidden.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "learn/program/tokens.h"

namespace gradus::learn {

namespace {

/// Ways around the grader, and around the time limit.
const std::vector<std::string> kNeverNeeded = {
    "asm",    "__asm__", "kernels", "detail",  "by_library",     "dlsym",
    "dlopen", "fork",    "exit",    "_exit",   "quick_exit",     "_Exit",
    "system", "thread",  "async",   "jthread", "pthread_create", "watcher"};

/// Words that before a name do not make it a declaration, as a type does.
const std::vector<std::string> kNoTypes = {"return", "co_return", "co_yield", "co_await", "else",
                                           "do",     "throw",     "case",     "goto",     "new",
                                           "delete", "sizeof",    "and",      "or",       "not"};

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The problem with a line that begins with #: only headers of the standard library, learn/learn.h and the
/// exercise's own given.h may be included.
std::string wrong_directive(std::string line, const Exercise& exercise, int number) {
  std::erase_if(line, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // the mark with which some editors begin a file
  if (line.starts_with("%:")) line.replace(0, 2, "#");     // another spelling of #
  if (!line.starts_with('#') || line == "#pragmaonce") return "";
  if (!line.starts_with("#include"))
    return exercise.words.phrase("line {line}: no macros are needed: write a function or a constant",
                                 fmt::arg("line", number));
  const bool allowed = line == "#include\"learn/learn.h\"" ||
                       line == "#include\"course/" + exercise.name + "/given.h\"" ||
                       (line.starts_with("#include<") && line.find('/') == std::string::npos);
  return allowed
             ? ""
             : exercise.words.phrase("line {line}: only headers of the standard library are included here",
                                     fmt::arg("line", number));
}

/// Whether the > at `close` ends template arguments, as in std::vector<double>, and is no comparison.
bool ends_template(const std::vector<Token>& tokens, std::size_t close) {
  int depth = 1;
  for (std::size_t i = close; i-- > 0 && depth > 0;) {
    const std::string& text = tokens[i].text;
    if (text == ">") ++depth;
    if (text == "<" && --depth == 0) return i > 0 && tokens[i - 1].is_name();
    const bool in_type = tokens[i].is_name() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                         contains({"<", ">", "::", ",", "*", "&", "(", ")"}, text);
    const bool is_and = text == "&" && i > 0 && tokens[i - 1].text == "&";
    if (!in_type || is_and) return false;
  }
  return false;
}

/// Whether the name at `at` is declared there, as in `double sum(0)`: a type comes before it.
bool is_declared(const std::vector<Token>& tokens, std::size_t at) {
  if (at == 0) return false;
  const Token& before = tokens[at - 1];
  return before.text == ">" ? ends_template(tokens, at - 1)
                            : before.is_name() && !contains(kNoTypes, before.text);
}

/// Whether the answer may have a variable of this name: declared as above, after the & or * of a type, or in
/// a list, as in `auto [mean, var]`.
bool is_variable(const std::vector<Token>& tokens, const std::string& name) {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const std::string &before = tokens[i - 1].text, &after = tokens[i + 1].text;
    if (tokens[i].text == name &&
        (is_declared(tokens, i) || (contains({"&", "*"}, before) && is_declared(tokens, i - 1)) ||
         (contains({",", "["}, before) && !contains({"(", ")"}, after))))
      return true;
  }
  return false;
}

/// Whether the name at `at` is called, qualified, or names a function and no variable. A variable may well be
/// called var, and std:: refers to no op of this name.
bool is_used(const std::vector<Token>& tokens, std::size_t at) {
  const std::string before = at > 0 ? tokens[at - 1].text : "",
                    after = at + 1 < tokens.size() ? tokens[at + 1].text : "", &name = tokens[at].text;
  if (before == "::") return true;
  if (after == "::") return name != "std";
  if (before == "." || before == "->") return after == "(";
  if (is_declared(tokens, at)) return false;
  return after == "(" || !is_variable(tokens, name);
}

}  // namespace

std::vector<std::string> forbidden_in(const std::string& code, const Exercise& exercise) {
  std::vector<std::string> found;
  const Catalogue& words = exercise.words;
  std::istringstream lines(without_comments(code, true));
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    if (std::string wrong = wrong_directive(line, exercise, ++number); !wrong.empty()) found.push_back(wrong);
  const std::vector<Token> tokens = tokens_of(without_comments(code));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    const bool never = word == "nn" || contains(kNeverNeeded, word),
               yours = contains(exercise.forbidden, word);
    if ((!never && !yours) || contains(exercise.allowed, word) || !is_used(tokens, i)) continue;
    const auto line = fmt::arg("line", tokens[i].line);
    const auto name = fmt::arg("name", word);
    if (yours)
      found.push_back(words.phrase("line {line}: {name} is yours to write here", line, name));
    else if (word == "nn")
      found.push_back(words.phrase("line {line}: modules of nn are not needed here", line));
    else
      found.push_back(words.phrase("line {line}: {name} is not needed here", line, name));
  }
  return found;
}

}  // namespace gradus::learn
