// No kernel escapes: every entry of the table is tested at every tail and on a million values.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "kernel_test.h"
#include "support.h"

namespace gradus::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Entry {
  std::string name;
  int count;  // of function pointers
};

/// The table's entries as kernels.h declares them: `T (*sum)(...)`, `void (*unary[...Unary::count...])(...)`.
std::vector<Entry> entries() {
  const std::string header = text_of(source_file("ops/kernels/kernels.h"));
  const std::size_t begin = header.find("struct Table {"), end = header.find("\n};", begin);
  const std::string body = header.substr(begin, end - begin);
  const std::pair<const char*, int> arrays[] = {{"unary", static_cast<int>(kernels::Unary::count)},
                                                {"unary_grad", static_cast<int>(kernels::UnaryGrad::count)},
                                                {"binary", static_cast<int>(kernels::Binary::count)},
                                                {"compare", static_cast<int>(kernels::Compare::count)}};
  std::vector<Entry> found;
  const std::regex declaration(R"(\(\*(\w+)(\[?))");
  for (std::sregex_iterator match(body.begin(), body.end(), declaration), last; match != last; ++match) {
    Entry entry{(*match)[1], 1};
    for (const auto& [name, count] : arrays)
      if ((*match)[2].length() && entry.name == name) entry.count = count;
    found.push_back(entry);
  }
  return found;
}

/// All test files of this folder whose name begins, or does not begin, with million_.
std::string tests(bool on_millions) {
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(source_file("tests/ops/kernels"))) {
    const std::string name = file.path().filename().string();
    if (name.find("_test.cpp") == std::string::npos && name.find("_check.h") == std::string::npos) continue;
    if (name.find("_check.h") != std::string::npos || name.starts_with("million_") == on_millions)
      text += text_of(file.path());
  }
  return text;
}

TEST_CASE("every kernel of the table has a test at every tail, and one on a million values") {
  int count = 0;
  for (const Entry& entry : entries()) count += entry.count;
  // When this fails, this file no longer understands how kernels.h declares the table.
  CHECK(count == static_cast<int>(sizeof(kernels::Table<float>) / sizeof(void (*)())));
  CHECK(sizeof(kernels::Table<float>) == sizeof(kernels::Table<double>));
  const std::string short_runs = tests(false), long_runs = tests(true);
  for (const Entry& entry : entries()) {
    const std::string kernel = entry.name, call = "table." + kernel;
    CAPTURE(kernel);
    const std::regex called("\\btable\\." + kernel + "\\b");
    CHECK_MESSAGE(std::regex_search(short_runs, called),
                  "no at_every_tail in tests/ops/kernels calls " << call);
    CHECK_MESSAGE(std::regex_search(long_runs, called),
                  "no million_*_test.cpp in tests/ops/kernels calls " << call);
  }
}

}  // namespace
}  // namespace gradus::test
