// No kernel escapes: every entry of the table is tested at every tail and on a million values, and where an
// op's formula names its kernels they are.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "kernel_test.h"
#include "support.h"

namespace gradus::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string without_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("//.*"), "");
}

bool has_word(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\b"));
}

struct Entry {
  std::string name;
  int count;  // of function pointers
};

/// The table's entries as kernels.h declares them: `T (&sum)(...)`, `void (*unary[...Unary::count...])(...)`.
std::vector<Entry> entries() {
  const std::string header = text_of(source_file("ops/kernels/kernels.h"));
  const std::size_t begin = header.find("struct Table {"), end = header.find("\n};", begin);
  const std::string body = header.substr(begin, end - begin);
  const std::pair<const char*, int> arrays[] = {{"unary", static_cast<int>(kernels::Unary::count)},
                                                {"unary_grad", static_cast<int>(kernels::UnaryGrad::count)},
                                                {"binary", static_cast<int>(kernels::Binary::count)},
                                                {"compare", static_cast<int>(kernels::Compare::count)}};
  std::vector<Entry> found;
  const std::regex declaration(R"(\([*&](\w+)(\[?))");
  for (std::sregex_iterator match(body.begin(), body.end(), declaration), last; match != last; ++match) {
    Entry entry{(*match)[1], 1};
    for (const auto& [name, count] : arrays)
      if ((*match)[2].length() && entry.name == name) entry.count = count;
    found.push_back(entry);
  }
  return found;
}

/// The files of this folder whose name ends so.
std::vector<std::filesystem::path> files(const std::string& end) {
  std::vector<std::filesystem::path> found;
  for (const auto& file : std::filesystem::directory_iterator(source_file("tests/ops/kernels")))
    if (file.path().filename().string().ends_with(end)) found.push_back(file.path());
  return found;
}

/// The functions check_...() of the *_check.h files, by name: what a test does that calls one.
std::map<std::string, std::string> shared_checks() {
  std::map<std::string, std::string> checks;
  for (const auto& file : files("_check.h")) {
    const std::string text = without_comments(text_of(file));
    const std::regex head(R"(void (check_\w+)\()");
    for (std::sregex_iterator match(text.begin(), text.end(), head), last; match != last; ++match) {
      const auto begin = static_cast<std::size_t>(match->position());
      checks[(*match)[1]] = text.substr(begin, text.find("\n}\n", begin) - begin);
    }
  }
  return checks;
}

/// What the test cases in which `word` stands do: their text, what their file has before its test cases, and
/// the shared checks they call.
std::string tests_with(const std::string& word, bool in_million_files) {
  static const std::map<std::string, std::string> checks = shared_checks();
  std::string done;
  for (const auto& file : files("_test.cpp")) {
    if (file.filename().string().starts_with("million_") != in_million_files) continue;
    const std::string text = without_comments(text_of(file)), before = text.substr(0, text.find("TEST_CASE"));
    for (std::size_t at = before.size(); at < text.size();) {
      const std::size_t end = std::min(text.find("TEST_CASE", at + 1), text.size());
      const std::string test = text.substr(at, end - at);
      at = end;
      if (!has_word(test, word)) continue;
      done += before + test;
      for (const auto& [name, body] : checks)
        if (has_word(test, name)) done += body;
    }
  }
  return done;
}

TEST_CASE("every kernel of the table has a test at every tail, and one on a million values") {
  int count = 0;
  for (const Entry& entry : entries()) count += entry.count;
  // When this fails, this file no longer understands how kernels.h declares the table.
  CHECK(count == static_cast<int>(sizeof(kernels::Table<float>) / sizeof(void (*)())));
  CHECK(shared_checks().size() > 8);
  const std::string short_runs = tests_with("at_every_tail", false),
                    long_runs = tests_with("on_every_isa", true);
  for (const Entry& entry : entries()) {
    CHECK_MESSAGE(has_word(short_runs, "table\\." + entry.name),
                  "no test case with at_every_tail calls table." << entry.name);
    CHECK_MESSAGE(has_word(long_runs, "table\\." + entry.name),
                  "no million_*_test.cpp calls table." << entry.name);
  }
}

TEST_CASE("the kernels that an op's formula names are where it says") {
  int named = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(source_file("ops"))) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = text_of(file.path()), shown = file.path().filename().string();
    const std::regex line(R"(// .*kernels/(body/\w+\.h): (.*))"), name(R"(\w+)"), aside(R"(\([^)]*\))");
    for (std::sregex_iterator match(text.begin(), text.end(), line), last; match != last; ++match) {
      const std::string body = text_of(source_file("ops/kernels/" + (*match)[1].str()));
      const std::string names = std::regex_replace((*match)[2].str(), aside, "");
      for (std::sregex_iterator one(names.begin(), names.end(), name); one != last; ++one, ++named) {
        const std::string kernel = one->str();
        CHECK_MESSAGE(has_word(body, kernel + "\\("), shown << ": " << (*match)[1] << " has no " << kernel);
      }
    }
  }
  CHECK(named > 20);  // fewer: the pattern no longer finds them
}

}  // namespace
}  // namespace gradus::test
