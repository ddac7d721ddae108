#pragma once
// report.html, plots/*.svg and summary.json, from the other files of a lab.

#include <filesystem>

#include "lab/analysis/verdict.h"

namespace gradus::lab {

/// The page, and its charts as files of their own.
struct Report {
  std::string html;
  std::vector<std::pair<std::string, std::string>> plots;  // file name and content
};

Report draw_report(const Results& results, const Analysis& analysis, const Verdict& verdict);

/// Reads the files in `folder` and writes report, plots and summary beside them. Returns the verdict.
Verdict write_report(const std::filesystem::path& folder);

}  // namespace gradus::lab
