// Generates the pages from the lab's committed measurement:
//   lab_ledger --write docs         writes claims.md, published.md, results.md and pictures/studies from
//   docs/data/studies
//   lab_ledger --check docs         fails if one of these, or a page's statement about a claim, is stale
//   lab_ledger --record DIR docs    records the finished studies in DIR, run with --full (compare: without
//   options), as the measurement

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "docs/draw/claims_page.h"
#include "docs/draw/published_page.h"
#include "docs/draw/quotes.h"
#include "docs/draw/results_page.h"
#include "gradus/kit/data/files.h"
#include "lab/program/study_page.h"

namespace {

using namespace gradus;
using Path = std::filesystem::path;

std::vector<lab::MeasuredStudy> committed(const Path& folder) {
  return lab::studies_in(folder / "data" / "studies");
}

/// Every file that is generated from docs/data/studies, with its content.
std::vector<std::pair<Path, std::string>> made(const Path& folder,
                                               const std::vector<lab::MeasuredStudy>& studies) {
  docs::ResultsPage results = docs::results_page(studies);
  std::vector<std::pair<Path, std::string>> files = {{folder / "claims.md", docs::claims_page(studies)},
                                                     {folder / "published.md", docs::published_page(studies)},
                                                     {folder / "results.md", std::move(results.markdown)}};
  for (auto& [path, content] : results.pictures)
    files.emplace_back(folder / "pictures" / path, std::move(content));
  return files;
}

void write(const Path& folder) {
  const auto files = made(folder, committed(folder));
  std::filesystem::remove_all(folder / "pictures" / "studies");
  for (const auto& [path, content] : files) {
    kit::make_folder(path.parent_path());
    kit::replace_file(path, content);
  }
}

/// README.md, the chapters and the other pages, except those generated here and notation.md, which contains
/// titles of papers.
std::vector<Path> pages_of(const Path& folder) {
  std::vector<Path> pages = {folder.parent_path() / "README.md", folder / "course" / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "course"))
    if (const Path page = entry.path() / "README.md";
        entry.is_directory() && entry.path().filename() != "template" && std::filesystem::exists(page))
      pages.push_back(page);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const Path name = entry.path().filename(); name.extension() == ".md" && name != "claims.md" &&
                                                   name != "published.md" && name != "results.md" &&
                                                   name != "notation.md")
      pages.push_back(entry.path());
  return pages;
}

int check(const Path& folder) {
  int faults = 0;
  const std::vector<lab::MeasuredStudy> studies = committed(folder);
  std::string results;
  for (const auto& [path, content] : made(folder, studies)) {
    if (path.filename() == "results.md") results = content;
    if (!std::filesystem::exists(path) || kit::read_file(path) != content) {
      fmt::print("{} is not what docs/data/studies give: build the target update_docs\n",
                 path.lexically_relative(folder.parent_path()).string());
      ++faults;
    }
  }
  const std::vector<lab::JudgedClaim> ledger = lab::judge_all(studies);
  for (const Path& page : pages_of(folder)) {
    const bool chapter = page.parent_path().parent_path().filename() == "course";
    for (const std::string& fault :
         docs::faults_of(kit::read_file(page), ledger, results,
                         chapter ? docs::PageKind::chapter : docs::PageKind::page)) {
      fmt::print("{} {}\n", page.lexically_relative(folder.parent_path()).string(), fault);
      ++faults;
    }
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view command = argc > 1 ? arguments[1] : "";
  if (command == "--check" && argc == 3) return check(arguments[2]);
  if (command == "--write" && argc == 3) {
    write(arguments[2]);
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
