#pragma once
// Generates docs/results.md, the results of the lab's studies, for readers who will not run them. Sentences
// and charts are those of the studies' own pages, drawn from docs/data/studies.

#include <string>
#include <utility>
#include <vector>

#include "lab/program/study_page.h"

namespace gradus::docs {

struct ResultsPage {
  std::string markdown;
  std::vector<std::pair<std::string, std::string>> pictures = {};  // path under docs/pictures, and content
};

ResultsPage results_page(const std::vector<lab::MeasuredStudy>& studies);

}  // namespace gradus::docs
