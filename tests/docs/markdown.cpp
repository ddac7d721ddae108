#include "docs/markdown.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace docs {
namespace {

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
}

bool is_fence(const std::string& line) { return trimmed(line).rfind("```", 0) == 0; }

bool is_mark(const std::string& line) {
  static const std::regex mark(R"(\s*// \[/?[A-Za-z0-9_-]+\]\s*)");
  return std::regex_match(line, mark);
}

void remove_common_indentation(Lines& lines) {
  std::size_t indentation = std::string::npos;
  for (const auto& line : lines)
    if (!trimmed(line).empty()) indentation = std::min(indentation, line.find_first_not_of(' '));
  for (auto& line : lines) line.erase(0, std::min(indentation, line.size()));
}

[[noreturn]] void bad_line(std::size_t line, const std::string& what) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

/// The comment's fields; false when the line is no such comment.
bool parse_comment(const std::string& line, std::size_t number, Quote& quote) {
  static const std::regex snippet(R"(<!-- snippet: ([^ #]+)(?:#([A-Za-z0-9_-]+))? -->)");
  static const std::regex output(R"(<!-- output: ([A-Za-z0-9_]+)(?: lines ([0-9]+)-([0-9]+))? -->)");
  static const std::regex rows(R"(<!-- rows: ([^ #]+)#([A-Za-z0-9_-]+) -->)");
  static const std::regex either(R"(<!--\s*(snippet|output|rows|chapters)\b.*)");
  std::smatch match;
  quote = Quote();
  quote.line = number;
  quote.is_chapters = line == "<!-- chapters -->";
  if (quote.is_chapters) {
    quote.source = "the chapters";
    return true;
  }
  quote.is_rows = std::regex_match(line, match, rows);
  if (quote.is_rows || std::regex_match(line, match, snippet)) {
    quote.source = match[1];
    quote.region = match[2];
    return true;
  }
  if (std::regex_match(line, match, output)) {
    quote.is_output = true;
    quote.source = match[1];
    if (match[2].matched) {
      quote.first = std::stoul(match[2]);
      quote.last = std::stoul(match[3]);
      if (quote.first < 1 || quote.last < quote.first)
        bad_line(number, "lines " + match[2].str() + "-" + match[3].str());
    }
    return true;
  }
  if (std::regex_match(line, either)) bad_line(number, "not understood: " + line);
  return false;
}

}  // namespace

Lines read_lines(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw std::runtime_error("cannot read " + path);
  return split_lines(text.str());
}

Lines split_lines(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string join_lines(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

std::vector<Quote> find_quotes(const Lines& page) {
  std::vector<Quote> quotes;
  for (std::size_t i = 0; i < page.size(); ++i) {
    Quote quote;
    if (is_fence(page[i])) {  // code that shows such a comment is not one
      while (++i < page.size() && !is_fence(page[i])) {
      }
      continue;
    }
    if (!parse_comment(trimmed(page[i]), i + 1, quote)) continue;
    if (quote.is_rows || quote.is_chapters) {
      quote.begin = quote.end = i + 1;
      while (quote.end < page.size() && page[quote.end].rfind('|', 0) == 0) ++quote.end;
      i = quote.end - 1;
      quotes.push_back(quote);
      continue;
    }
    quote.begin = i + 2;
    quote.indent = page[i].substr(0, page[i].find_first_not_of(" \t"));
    if (i + 1 >= page.size() || !is_fence(page[i + 1])) bad_line(i + 1, "no fenced block under this comment");
    quote.end = quote.begin;
    while (quote.end < page.size() && !is_fence(page[quote.end])) ++quote.end;
    if (quote.end == page.size()) bad_line(i + 2, "this fenced block is not closed");
    i = quote.end;
    quotes.push_back(quote);
  }
  return quotes;
}

Lines region(const Lines& file, const std::string& name) {
  Lines lines;
  int opened = 0;
  bool inside = name.empty();
  for (const auto& line : file) {
    if (!name.empty() && trimmed(line) == "// [" + name + "]") {
      inside = true;
      ++opened;
    } else if (!name.empty() && trimmed(line) == "// [/" + name + "]") {
      inside = false;
    } else if (inside && !is_mark(line)) {
      lines.push_back(line);
    }
  }
  if (!name.empty() && (opened != 1 || inside))
    throw std::runtime_error("expected one // [" + name + "] ... // [/" + name + "], found " +
                             std::to_string(opened) + (inside ? ", not closed" : ""));
  remove_common_indentation(lines);
  return lines;
}

std::vector<Link> find_links(const Lines& page) {
  static const std::regex code("`[^`]*`");
  static const std::regex link(
      R"re(\]\(([^)\s]+)[^)]*\)|(?:src|srcset|href)="([^"]+)"|^\[[^\]]+\]:\s*(\S+))re");
  std::vector<Link> links;
  bool in_code = false;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (is_fence(page[i])) in_code = !in_code;
    if (in_code) continue;
    const std::string text = std::regex_replace(page[i], code, "");
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match)
      for (std::size_t group = 1; group < match->size(); ++group)
        if ((*match)[group].matched) links.push_back({(*match)[group], i + 1});
  }
  return links;
}

std::vector<std::string> anchors(const Lines& page) {
  static const std::regex heading("#{1,6} +(.*)"), named("<a id=\"([^\"]+)\"></a>");
  std::vector<std::string> result;
  std::map<std::string, int> seen;
  bool in_code = false;
  for (const auto& line : page) {
    if (is_fence(line)) in_code = !in_code;
    std::smatch match;
    if (!in_code && std::regex_match(line, match, named)) result.push_back(match[1]);
    if (in_code || !std::regex_match(line, match, heading)) continue;
    std::string anchor;
    for (const char c : trimmed(match[1])) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 128)
        anchor += static_cast<char>(std::tolower(byte));
      if (c == ' ') anchor += '-';
    }
    const int again = seen[anchor]++;
    result.push_back(again ? anchor + "-" + std::to_string(again) : anchor);
  }
  return result;
}

}  // namespace docs
