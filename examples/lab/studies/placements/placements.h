#pragma once
// What plan, figures and page of the study of placements share.

#include <map>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::placements {

/// All placements by depth, and some of them in very deep stacks: two searches with rates and seeds of their
/// own.
struct Part {
  std::vector<nn::Placement> placements;
  std::vector<std::int64_t> depths;
  std::map<std::int64_t, std::vector<double>> rates;  // by depth
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;

  Search search(const nn::Placement& placement, std::int64_t layers) const;
};

Part all_part(const StudyOptions& options);
Part deep_part(const StudyOptions& options);

std::string run_name(const nn::Placement& placement, std::int64_t layers, double rate, std::uint64_t seed);

/// Pre-LN or Post-LN: whose mean loss is lower at this depth. NaNs where nothing has finished.
Found better_of_two(const StudyResults& results, const Part& part, std::int64_t layers);
/// A placement's loss above that, seed by seed, the mean over the depths.
std::vector<double> above_better(const StudyResults& results, const Part& part,
                                 const nn::Placement& placement);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::placements
