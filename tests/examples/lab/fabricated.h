#pragma once
// Studies that never ran: a plan's runs with numbers made up from their names.

#include <functional>

#include "lab/studies/studies.h"

namespace gradus::test {

inline lab::StudyResults fabricated(const lab::Study& study, lab::Budget budget,
                                    const std::function<lab::Measured(const std::string& run)>& measured) {
  lab::StudyResults results;
  results.options.budget = budget;
  for (const lab::StudyRun& run : study.plan(results.options))
    results.records[run.name] = {.measured = measured(run.name), .seconds = run.seconds};
  results.planned = results.records.size();
  return results;
}

/// Whether `name` has `part` between dashes: has_part("post-L2-s1", "L2").
inline bool has_part(const std::string& name, const std::string& part) {
  return ("-" + name + "-").find("-" + part + "-") != std::string::npos;
}

}  // namespace gradus::test
