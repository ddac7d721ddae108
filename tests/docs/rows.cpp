// docs::rows: tables drawn from tests.

#include <regex>
#include <stdexcept>
#include <string>

#include "docs/markdown.h"

namespace docs {
namespace {

/// Text in a cell as code. A | would end the cell, also in code.
std::string code_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return "`" + escaped + "`";
}

struct Row {
  std::string call, code, note, words;
  bool checked = false;  // the lines that check it have begun
};

std::string table_line(const Row& row) {
  static const std::regex gives(R"re(gives\((.*), "[^"]*"\);)re");
  if (row.code.empty() == row.words.empty())
    throw std::runtime_error("the row of " + row.call + " needs either code or words");
  std::smatch match;
  const bool is_value = std::regex_match(row.code, match, gives);
  std::string cell = row.words.empty() ? code_cell(is_value ? match[1].str() : row.code) : row.words;
  if (!row.note.empty()) cell += "; " + row.note;
  return "| " + code_cell(row.call) + " | " + cell + " |";
}

}  // namespace

Lines rows(const Lines& region) {
  static const std::regex comment(R"(// (py|note|here): (.*))");
  static const std::regex check(R"((CHECK|gives\().*)");
  Lines lines = {"| PyTorch | here |", "|---|---|"};
  std::vector<Row> rows;
  for (const auto& line : region) {
    std::smatch match;
    if (std::regex_match(line, match, comment)) {
      if (match[1] == "py") rows.emplace_back();
      if (rows.empty()) throw std::runtime_error("before the first // py: there is " + line);
      Row& row = rows.back();
      (match[1] == "py" ? row.call : match[1] == "note" ? row.note : row.words) = match[2];
      continue;
    }
    if (rows.empty()) throw std::runtime_error("before the first // py: there is " + line);
    Row& row = rows.back();
    row.checked = row.checked || (!row.code.empty() && std::regex_match(line, check));
    if (row.checked) continue;
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    // A line that was broken after a parenthesis is put together as it was.
    const bool joined = row.code.empty() || row.code.back() == '(';
    row.code += (joined ? "" : " ") + line.substr(begin);
  }
  for (const Row& row : rows) lines.push_back(table_line(row));
  return lines;
}

}  // namespace docs
