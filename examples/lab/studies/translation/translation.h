#pragma once
// The study `translation`: German to English with and without warm-up.

#include <optional>
#include <string>
#include <vector>

#include "lab/studies/translation/translator.h"
#include "lab/study/study.h"

namespace gradus::lab::translation {

inline const std::vector<std::string> kPlacements = {"Pre-LN", "Post-LN"};

/// What a budget has; both placements have all of it.
struct Grid {
  std::vector<std::int64_t> warmups;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  Selection selection = {};
  TrainOptions training = {};  // but for placement, rate, warm-up and seed
};
Grid grid_of(const StudyOptions& options);

/// "pre-w0-lr0.001-s3"
std::string run_name(const std::string& placement, std::int64_t warmup, double rate, std::uint64_t seed);

/// A number of all runs of a placement and a warm-up, [rate][seed]; NaN where a run has not finished.
std::vector<std::vector<double>> by_rate(const StudyResults& results, const std::string& placement,
                                         std::int64_t warmup, const std::string& number);
/// For each seed the place of the rate that was best for the others; nothing where a seed is not complete.
std::vector<std::optional<std::size_t>> best_rates(const StudyResults& results, const std::string& placement,
                                                   std::int64_t warmup);
/// BLEU of each seed at that rate; NaN where a seed is not complete.
std::vector<double> best_bleu(const StudyResults& results, const std::string& placement, std::int64_t warmup);
/// without / with, seed by seed; seeds are left out at which `with` is below 1 or either is NaN.
std::vector<double> bleu_ratios(const std::vector<double>& without, const std::vector<double>& with);

std::vector<StudyRun> plan(const StudyOptions& options);
Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::translation
