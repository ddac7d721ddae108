#include "docs/chapters.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <stdexcept>

namespace docs {
namespace {

namespace fs = std::filesystem;

std::smatch first_match(const Lines& lines, const char* pattern, const fs::path& file, const char* wanted) {
  const std::regex regex(pattern);
  std::smatch match;
  for (const auto& line : lines)
    if (std::regex_match(line, match, regex)) return match;
  throw std::runtime_error(file.string() + " has no " + wanted);
}

Chapter read_chapter(const fs::path& root, const std::string& name) {
  const fs::path page = fs::path("docs/course") / name / "README.md",
                 program = fs::path("examples/course") / name / "main.cpp";
  const Lines text = read_lines((root / page).string()), code = read_lines((root / program).string());
  Chapter chapter;
  chapter.name = name;
  chapter.title = first_match(text, R"(# [0-9N]+\. (.+))", page, "title '# NN. Title'")[1];
  const auto time = first_match(text, R"(Program: .*\.cpp\), (about|below|less than) ([0-9]+) seconds?\b.*)",
                                page, "line 'Program: [...](...), about N seconds'");
  chapter.seconds = (time[1] == "about" ? "" : "< ") + time[2].str();
  const auto picture = first_match(text, R"re(<img src="([^"]+)".* alt="([^"]+)">)re", page, "picture");
  chapter.picture = (page.parent_path() / picture[1].str()).lexically_normal().generic_string();
  chapter.alt = picture[2];
  chapter.shows = first_match(code, "// (.+)", program, "comment")[1];
  return chapter;
}

std::string link_to(const Chapter& chapter) {
  return "[" + chapter.title + "](../" + chapter.name + "/README.md)";
}

}  // namespace

std::vector<Chapter> chapters(const std::string& root) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "docs/course"))
    if (const std::string name = entry.path().filename().string();
        std::regex_match(name, std::regex("[0-9].*")))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  std::vector<Chapter> found;
  for (const auto& name : names) found.push_back(read_chapter(root, name));
  return found;
}

Lines chapter_table(const std::vector<Chapter>& chapters) {
  Lines lines = {"| | program | what it shows | seconds | page |", "|---|---|---|---|---|"};
  for (const auto& c : chapters)
    lines.push_back("| <img src=\"../" + c.picture + "\" width=\"110\" alt=\"" + c.alt + "\"> | [" + c.name +
                    "](course/" + c.name + "/main.cpp) | " + c.shows + " | " + c.seconds + " | [" + c.title +
                    "](../docs/course/" + c.name + "/README.md) |");
  return lines;
}

std::string chapter_footer(const std::vector<Chapter>& chapters, std::size_t i) {
  std::string line = "[Contents](../README.md)";
  if (i > 0) line += " · before: " + link_to(chapters[i - 1]);
  if (i + 1 < chapters.size()) line += " · next: " + link_to(chapters[i + 1]);
  return line;
}

}  // namespace docs
