#include "learn/program/tokens.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace gradus::learn {

namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Joins lines that end in a backslash; the removed newlines come after the joined line.
std::string joined(const std::string& code) {
  std::string kept, newlines;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t next = code.find_first_not_of(" \t\r", i + 1);
    if (code[i] == '\\' && next != std::string::npos && code[next] == '\n') {
      newlines += '\n';
      i = next;
    } else if (code[i] == '\n') {
      kept += newlines + '\n';
      newlines.clear();
    } else {
      kept += code[i];
    }
  }
  return kept + newlines;
}

std::string newlines_of(const std::string& text) {
  return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
}

/// The end of the raw string whose quote is at `quote`: R"x(...)x".
std::size_t end_of_raw(const std::string& code, std::size_t quote) {
  const std::size_t bracket = std::min(code.find('(', quote), code.size());
  const std::string last = ")" + code.substr(quote + 1, bracket - quote - 1) + "\"";
  const std::size_t end = code.find(last, bracket);
  return end == std::string::npos ? code.size() : end + last.size();
}

/// The end of the string or character that begins at `quote`: after the other quote, or at the line's end.
std::size_t end_of_string(const std::string& code, std::size_t quote) {
  std::size_t i = quote + 1;
  for (; i < code.size() && code[i] != code[quote] && code[i] != '\n'; ++i)
    if (code[i] == '\\') ++i;
  return std::min(i + (i < code.size() && code[i] == code[quote]), code.size());
}

/// Whether the text so far ends in the prefix of a raw string: R, u8R, uR, UR or LR.
bool ends_in_raw_prefix(const std::string& kept) {
  std::size_t begin = kept.size();
  while (begin > 0 && in_name(kept[begin - 1])) --begin;
  const std::string word = kept.substr(begin);
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

}  // namespace

std::string without_comments(const std::string& source, bool strings) {
  const std::string code = joined(source);
  std::string kept;
  for (std::size_t i = 0, end = 0; i < code.size(); i = end) {
    const char c = code[i];
    if (code.compare(i, 2, "//") == 0) {
      end = std::min(code.find('\n', i), code.size());
    } else if (code.compare(i, 2, "/*") == 0) {
      end = std::min(std::min(code.find("*/", i + 2), code.size()) + 2, code.size());
      kept += ' ' + newlines_of(code.substr(i, end - i));
    } else if (c == '"' || (c == '\'' && (kept.empty() || !in_name(kept.back())))) {
      end = c == '"' && ends_in_raw_prefix(kept) ? end_of_raw(code, i) : end_of_string(code, i);
      const std::string whole = code.substr(i, end - i);
      kept += strings ? whole : std::string(2, c) + newlines_of(whole);
    } else {
      kept += c;
      end = i + 1;
    }
  }
  return kept;
}

bool Token::is_name() const {
  return in_name(text.front()) && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

std::vector<Token> tokens_of(const std::string& code) {
  std::vector<Token> tokens;
  std::istringstream lines(code);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#' || line.compare(first, 2, "%:") == 0) continue;
    for (std::size_t i = first, end = 0; i < line.size(); i = end) {
      end = i + 1;
      if (std::isspace(static_cast<unsigned char>(line[i])) != 0) continue;
      if (in_name(line[i]))
        while (end < line.size() && in_name(line[end])) ++end;
      else if (line.compare(i, 2, "::") == 0 || line.compare(i, 2, "->") == 0)
        ++end;
      tokens.push_back({line.substr(i, end - i), number});
    }
  }
  return tokens;
}

}  // namespace gradus::learn
