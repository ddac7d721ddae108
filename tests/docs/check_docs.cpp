// Checks the documentation: check_docs [--update] SOURCE [PROGRAMS].
//
// In every Markdown file of the source tree, quoted code must equal the file it is quoted from, quoted output
// what the program of that name in folder PROGRAMS prints (markdown.h says how to quote), links must lead
// somewhere, and a chapter's last line links to its neighbours. --update rewrites what has gone stale.
// Without PROGRAMS output is not compared.

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "docs/chapters.h"
#include "docs/markdown.h"

namespace fs = std::filesystem;

namespace {

class Check {
 public:
  Check(fs::path source, fs::path programs, bool update)
      : source_(std::move(source)),
        programs_(std::move(programs)),
        update_(update),
        chapters_(docs::chapters(source_.string())) {}

  /// The number of problems, each printed.
  int run() {
    for (const auto& page : pages()) {
      check_quotes(page);
      check_links(page);
    }
    for (std::size_t i = 0; i < chapters_.size(); ++i) check_footer(i);
    std::cout << quotes_ << " quotes, " << links_ << " links, " << problems_ << " problems\n";
    return problems_;
  }

 private:
  std::vector<fs::path> pages() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(source_))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    for (const char* folder : {"docs", "examples", "tests"}) {
      if (!fs::exists(source_ / folder)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(source_ / folder))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void problem(const fs::path& page, std::size_t line, const std::string& what) {
    ++problems_;
    std::cout << fs::relative(page, source_).string() << ':' << line << ": " << what << '\n';
  }

  void check_quotes(const fs::path& page) try {
    docs::Lines lines = docs::read_lines(page.string());
    std::vector<docs::Quote> quotes = docs::find_quotes(lines);
    std::reverse(quotes.begin(), quotes.end());  // from the end, so that replacing moves no other quote
    bool changed = false;
    for (const auto& quote : quotes) {
      if (quote.is_output && programs_.empty()) continue;
      const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(quote.begin);
      const auto end = lines.begin() + static_cast<std::ptrdiff_t>(quote.end);
      docs::Lines expected = quoted(page, quote);
      for (std::string& line : expected)
        if (!line.empty()) line.insert(0, quote.indent);
      ++quotes_;
      if (std::equal(begin, end, expected.begin(), expected.end())) continue;
      if (update_) {
        lines.insert(lines.erase(begin, end), expected.begin(), expected.end());
        changed = true;
      } else {
        problem(page, quote.line,
                "differs from " + quote.source + "; check_docs --update puts there:\n" +
                    docs::join_lines(expected));
      }
    }
    if (changed) std::ofstream(page) << docs::join_lines(lines);
  } catch (const std::runtime_error& error) {
    problem(page, 1, error.what());
  }

  void check_footer(std::size_t i) {
    const fs::path page = source_ / "docs/course" / chapters_[i].name / "README.md";
    docs::Lines lines = docs::read_lines(page.string());
    const std::string footer = docs::chapter_footer(chapters_, i);
    if (lines.back() == footer) return;
    if (update_ && lines.back().rfind("[Contents](", 0) == 0) {
      lines.back() = footer;
      std::ofstream(page) << docs::join_lines(lines);
    } else {
      problem(page, lines.size(), "the last line is not: " + footer);
    }
  }

  docs::Lines quoted(const fs::path& page, const docs::Quote& quote) try {
    if (quote.is_chapters) return docs::chapter_table(chapters_);
    if (!quote.is_output) {
      const docs::Lines region =
          docs::region(docs::read_lines((source_ / quote.source).string()), quote.region);
      return quote.is_rows ? docs::rows(region) : region;
    }
    const docs::Lines& output = output_of(quote.source);
    if (quote.first == 0) return output;
    if (quote.last > output.size())
      throw std::runtime_error(quote.source + " prints " + std::to_string(output.size()) + " lines");
    return docs::Lines(output.begin() + static_cast<std::ptrdiff_t>(quote.first - 1),
                       output.begin() + static_cast<std::ptrdiff_t>(quote.last));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("line " + std::to_string(quote.line) + " of " + page.filename().string() + ": " +
                             error.what());
  }

  /// What a program prints, run once in an empty folder.
  const docs::Lines& output_of(const std::string& name) {
    const auto known = outputs_.find(name);
    if (known != outputs_.end()) return known->second;
    std::string folder = (fs::temp_directory_path() / "gradus-docs-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make a folder " + folder);
    const std::string command = "cd '" + folder + "' && '" + (programs_ / name).string() + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + name);
    std::string text;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    const int status = pclose(pipe);
    fs::remove_all(folder);
    if (status != 0) throw std::runtime_error(name + " failed");
    return outputs_[name] = docs::split_lines(text);
  }

  void check_links(const fs::path& page) {
    for (const auto& link : docs::find_links(docs::read_lines(page.string()))) {
      if (link.target.find("://") != std::string::npos || link.target.rfind("mailto:", 0) == 0) continue;
      ++links_;
      const auto hash = link.target.find('#');
      const std::string file = link.target.substr(0, hash);
      const fs::path target = file.empty() ? page : page.parent_path() / file;
      if (!fs::exists(target)) {
        problem(page, link.line, "no such file: " + link.target);
      } else if (hash != std::string::npos && target.extension() == ".md") {
        const auto names = docs::anchors(docs::read_lines(target.string()));
        if (std::find(names.begin(), names.end(), link.target.substr(hash + 1)) == names.end())
          problem(page, link.line, "no such heading: " + link.target);
      }
    }
  }

  fs::path source_;
  fs::path programs_;
  bool update_;
  std::vector<docs::Chapter> chapters_;
  int problems_ = 0;
  int quotes_ = 0;
  int links_ = 0;
  std::map<std::string, docs::Lines> outputs_;
};

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool update = !arguments.empty() && arguments[0] == "--update";
  if (update) arguments.erase(arguments.begin());
  if (arguments.empty() || arguments.size() > 2) {
    std::cerr << "usage: check_docs [--update] SOURCE [PROGRAMS]\n";
    return 2;
  }
  const fs::path programs = arguments.size() == 2 ? fs::absolute(arguments[1]) : fs::path();
  return Check(fs::absolute(arguments[0]), programs, update).run() == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "check_docs: " << error.what() << '\n';
  return 1;
}
