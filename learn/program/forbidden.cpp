#include "learn/program/forbidden.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace gradus::learn {

namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Ways around the grader, and around the time limit.
const std::vector<std::string> kNeverNeeded = {
    "asm",  "__asm__", "kernels", "detail",     "by_library", "dlsym",  "dlopen", "fork",
    "exit", "_exit",   "_Exit",   "quick_exit", "system",     "thread", "async",  "watcher"};

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string wrong_header(const Catalogue& words, int number) {
  return words.phrase("line {line}: only headers of the standard library are included here",
                      fmt::arg("line", number));
}

/// Lines that begin with #: only headers of the standard library and learn/learn.h are included.
std::string wrong_directive(std::string line, const Catalogue& words, int number) {
  line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; }),
             line.end());
  if (!line.starts_with('#') || line == "#pragmaonce" || line.starts_with("#include\"")) return "";
  if (!line.starts_with("#include<"))
    return words.phrase("line {line}: no macros are needed: write a function or a constant",
                        fmt::arg("line", number));
  return line.find('/') == std::string::npos || line.find("gradus/") == std::string::npos
             ? ""
             : wrong_header(words, number);
}

}  // namespace

std::string without_comments(const std::string& code) {
  std::string kept;
  for (std::size_t i = 0; i < code.size();) {
    const char c = code[i];
    if (code.compare(i, 2, "//") == 0) {
      while (i < code.size() && code[i] != '\n') ++i;
    } else if (code.compare(i, 2, "/*") == 0) {
      const std::size_t end = std::min(code.find("*/", i + 2), code.size());
      kept += ' ' + std::string(static_cast<std::size_t>(
                                    std::count(code.begin() + static_cast<std::ptrdiff_t>(i),
                                               code.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                                '\n');
      i = std::min(end + 2, code.size());
    } else if (c == '"' || (c == '\'' && (kept.empty() || !in_name(kept.back())))) {
      for (++i; i < code.size() && code[i] != c && code[i] != '\n'; ++i)
        if (code[i] == '\\') ++i;
      kept += std::string(2, c);
      if (i < code.size() && code[i] == c) ++i;
    } else {
      kept += c;
      ++i;
    }
  }
  return kept;
}

std::vector<std::string> forbidden_in(const std::string& code, const Exercise& exercise) {
  std::vector<std::string> found;
  std::istringstream stripped(without_comments(code)), whole(code);
  const Catalogue& words = exercise.words;
  int number = 0;
  for (std::string line, original; std::getline(stripped, line);) {
    std::getline(whole, original);
    ++number;
    if (std::string wrong = wrong_directive(line, words, number); !wrong.empty()) found.push_back(wrong);
    if (line.find("#include\"") != std::string::npos || line.find("#include \"") != std::string::npos) {
      if (original.find("\"learn/learn.h\"") == std::string::npos &&
          original.find("/given.h\"") == std::string::npos)
        found.push_back(wrong_header(words, number));
    }
    for (std::size_t i = 0; i < line.size();) {
      if (!in_name(line[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < line.size() && in_name(line[end])) ++end;
      const std::string word = line.substr(i, end - i);
      const auto at = fmt::arg("line", number);
      const auto name = fmt::arg("name", word);
      const bool qualifier = line.compare(end, 2, "::") == 0;
      const bool called = line.find_first_not_of(' ', end) != std::string::npos &&
                          line[line.find_first_not_of(' ', end)] == '(';
      const bool named = i >= 2 && line.compare(i - 2, 2, "::") == 0;
      if (contains(exercise.forbidden, word) && (called || named))  // a variable may well be called var
        found.push_back(words.phrase("line {line}: {name} is yours to write here", at, name));
      else if (word == "nn" && qualifier && !contains(exercise.allowed, word))
        found.push_back(words.phrase("line {line}: modules of nn are not needed here", at));
      else if (contains(kNeverNeeded, word) && !contains(exercise.allowed, word))
        found.push_back(words.phrase("line {line}: {name} is not needed here", at, name));
      i = end;
    }
  }
  return found;
}

}  // namespace gradus::learn
