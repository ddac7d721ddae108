#pragma once
// The study `translation`: German to English with and without warm-up.

#include <optional>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/translation/translator.h"

namespace gradus::lab::translation {

inline const std::vector<std::string> kPlacements = {"Pre-LN", "Post-LN"};

/// The runs of a budget, the same for both placements.
struct Grid {
  std::vector<std::int64_t> warmups;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  Selection selection = {};
  TrainOptions training = {};  // without placement, rate, warm-up and seed

  /// The runs of a placement and a warm-up, by BLEU.
  Search search(const std::string& placement, std::int64_t warmup) const;
};
Grid grid_of(const StudyOptions& options);

/// "pre-w0-lr0.001-s3"
std::string run_name(const std::string& placement, std::int64_t warmup, double rate, std::uint64_t seed);

/// without / with, seed by seed; seeds are left out at which `with` is below 1 or either is NaN.
std::vector<double> bleu_ratios(const std::vector<double>& without, const std::vector<double>& with);

std::vector<StudyRun> plan(const StudyOptions& options);
Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::translation
