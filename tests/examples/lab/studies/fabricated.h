#pragma once
// Fabricated results of a study, made from each run's name.

#include <doctest/doctest.h>

#include <functional>
#include <regex>
#include <set>

#include "lab/claims/ledger.h"
#include "lab/study/study.h"

namespace gradus::test {

/// All runs of the plan and those that follow from them, or those that `keep` selects.
inline lab::StudyResults fabricated(const lab::Study& study, const lab::StudyOptions& options,
                                    const std::function<lab::Measured(const std::string& run)>& measured,
                                    const std::function<bool(const std::string& run)>& keep = {}) {
  lab::StudyResults results{.options = options, .records = {}, .planned = 0};
  std::set<std::string> seen;
  do {
    results.planned = seen.size();
    const lab::Following all = lab::planned(study, options, results.records);
    for (const lab::StudyRun& run : all.runs)
      if (seen.insert(run.name).second && (!keep || keep(run.name)))
        results.records[run.name] = {measured(run.name), 1};
  } while (results.planned < seen.size());
  return results;
}

/// The page drawn from these.
inline std::string page_of(const lab::Study& study, const lab::StudyResults& results) {
  lab::Page page{kit::HtmlReport(study.title, study.question)};
  study.report(page, results);
  return page.html.html();
}

/// A page from all runs, from every second and from every seventh, with its limits and without "nan".
inline void check_pages(const lab::Study& study, const lab::StudyResults& results) {
  for (const std::size_t of_every : {1, 2, 7}) {
    lab::StudyResults part = results;
    std::size_t place = 0;
    std::erase_if(part.records, [&](const auto&) { return place++ % of_every != 0; });
    const std::string page = page_of(study, part);
    CHECK(page.find("What this does not show") != std::string::npos);
    CHECK_FALSE(std::regex_search(page, std::regex("\\bnan\\b")));  // nanoGPT is no number
  }
}

/// What the ledger says of a measure: "yes", "not decided: 3 seeds".
inline std::string outcome(const lab::Figures& figures, int number, const std::string& id) {
  const lab::JudgedClaim judged = lab::judge(lab::claim_numbered(number), figures);
  for (const lab::Judged& one : judged.measures)
    if (one.measure->id == id) return lab::describe_outcome(one);
  return "no such measure";
}

/// The ids of the study's measures in the ledger.
inline std::vector<std::string> measures_of(const lab::Study& study) {
  std::vector<std::string> ids;
  for (const lab::Claim& claim : lab::claims())
    if (claim.study == study.name)
      for (const lab::Measure& measure : claim.measures) ids.push_back(measure.id);
  return ids;
}

}  // namespace gradus::test
