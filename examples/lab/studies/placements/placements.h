#pragma once
// Shared by plan, figures and page of the study of placements.

#include <map>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::placements {

/// All placements by depth, and some of them in very deep stacks: two searches with separate rates and seeds.
struct Part {
  std::vector<nn::Placement> placements;
  std::vector<nn::Placement> judged;  // placements in the ledger; the others are only on the page
  std::vector<std::int64_t> depths;
  std::map<std::int64_t, std::vector<double>> rates;  // by depth
  std::vector<std::uint64_t> seeds;                   // of those judged
  std::vector<std::uint64_t> few_seeds;               // of the others, the first of them
  std::int64_t steps = 0;

  const std::vector<std::uint64_t>& seeds_of(const nn::Placement& placement) const;
  Search search(const nn::Placement& placement, std::int64_t layers) const;
};

Part all_part(const StudyOptions& options);
Part deep_part(const StudyOptions& options);

std::string run_name(const nn::Placement& placement, std::int64_t layers, double rate, std::uint64_t seed);

/// A placement's loss at one depth, seed by seed, above that of Pre-LN or Post-LN, whichever, at its best
/// rate, is best on the *other* seeds. NaN where a run of that seed has not finished.
std::vector<double> above_better(const StudyResults& results, const Part& part,
                                 const nn::Placement& placement, std::int64_t layers);
/// The same at the depth where it is largest on the other seeds.
std::vector<double> above_at_worst(const StudyResults& results, const Part& part,
                                   const nn::Placement& placement);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::placements
