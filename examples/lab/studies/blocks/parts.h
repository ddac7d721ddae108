#pragma once
// The parts of the study of blocks: its settings, which plan, figures and page share.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/study/study.h"

namespace gradus::lab::blocks {

inline constexpr std::int64_t kTrainedLayers = 6;

struct Grid {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;
};
Grid grid_of(const StudyOptions& options);

std::string model_run(const std::string& model, std::uint64_t seed);
std::string training_run(const std::string& variant, double rate, std::uint64_t seed);

/// Final loss; NaN where it is not there.
double loss_of(const StudyResults& results, const std::string& variant, double rate, std::uint64_t seed);
/// Of a variant, in the mean over seeds.
double rate_of(const StudyResults& results, const std::string& variant);
/// Loss of one variant minus that of another, each at its best rate, seed by seed.
std::vector<double> differences(const StudyResults& results, const std::string& one,
                                const std::string& other);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::blocks
