// The ledger of claims in the documentation:
//
//   lab_ledger --write docs            makes docs/claims.md from docs/data/studies
//   lab_ledger --check docs            fails where that page, or what README.md and docs/*.md say of claims,
//   is stale lab_ledger --record DIR docs       takes the finished studies in DIR, run with --full, as the
//   committed measurement

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "docs/draw/claims_page.h"
#include "gradus/kit/data/files.h"
#include "lab/study/page.h"

namespace {

using namespace gradus;
using Path = std::filesystem::path;

int check(const Path& folder) {
  const std::vector<lab::JudgedClaim> ledger = lab::judge_all(folder / "data" / "studies");
  int faults = 0;
  if (kit::read_file(folder / "claims.md") != docs::claims_page(folder / "data" / "studies")) {
    fmt::print("docs/claims.md is not what docs/data/studies give: build the target update_docs\n");
    ++faults;
  }
  std::vector<Path> pages = {folder.parent_path() / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const Path name = entry.path().filename();
        name.extension() == ".md" && name != "claims.md" && name != "notation.md")  // which has titles of papers
      pages.push_back(entry.path());
  for (const Path& page : pages)
    for (const std::string& fault : docs::faults_of(kit::read_file(page), ledger)) {
      fmt::print("{} {}\n", page.lexically_relative(folder.parent_path()).string(), fault);
      ++faults;
    }
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view command = argc > 1 ? arguments[1] : "";
  if (command == "--check" && argc == 3) return check(arguments[2]);
  if (command == "--write" && argc == 3) {
    const Path folder = arguments[2];
    kit::replace_file(folder / "claims.md", docs::claims_page(folder / "data" / "studies"));
    return 0;
  }
  if (command == "--record" && argc == 4) {
    docs::record_studies(arguments[2], Path(arguments[3]) / "data" / "studies");
    return 0;
  }
  std::fprintf(stderr, "usage: lab_ledger --check DOCS | --write DOCS | --record STUDIES DOCS\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lab_ledger: %s\n", error.what());
  return 1;
}
