#pragma once
// Fabricated results of a study, and a check that they serve its claims.

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "fabricated.h"
#include "lab/claims/ledger.h"
#include "lab/studies/studies.h"

namespace gradus::lab::made {

/// Every run of the plan and of those that follow, or every `part`-th, with the result of `measured` for its
/// name.
inline StudyResults made_results(const Study& study, Budget budget,
                                 const std::function<Measured(const std::string& run)>& measured,
                                 std::size_t part = 1) {
  std::size_t place = 0;
  return gradus::test::fabricated(study, {.budget = budget}, measured,
                                  [&](const std::string&) { return place++ % part == 0; });
}

/// Checks that the study has all its measures of the ledger, in full and in quick form, and that the page is
/// drawn from all runs and from some.
inline void check_study(const std::string& name,
                        const std::function<Measured(const std::string& run)>& measured) {
  const Study& study = study_named(name);
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const Figures figures = study.figures(made_results(study, budget, measured));
    for (const Claim& claim : claims())
      for (const Measure& measure : claim.measures) {
        if (claim.study != name || (budget == Budget::quick && !measure.quick)) continue;
        INFO(claim.number, " ", measure.id);
        REQUIRE(figures.contains(measure.id));
        CHECK(figures.at(measure.id).size() >= 3);
      }
    for (const std::size_t part : {1, 2, 3, 7}) {
      Page page{kit::HtmlReport(study.title, study.question)};
      CHECK_NOTHROW(study.report(page, made_results(study, budget, measured, part)));
      CHECK(page.html.html().size() < 2'000'000);
    }
  }
}

}  // namespace gradus::lab::made
