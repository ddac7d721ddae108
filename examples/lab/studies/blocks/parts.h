#pragma once
// The parts of the study of blocks: its settings, which plan, figures and page share.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/studies/search.h"

namespace gradus::lab::blocks {

inline constexpr std::int64_t kTrainedLayers = 6;
inline constexpr std::size_t kCurvePoints = 40;  // of a run's training loss

struct Grid {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;

  /// The runs of one variant, by final loss.
  Search search(const std::string& variant) const;
};
Grid grid_of(const StudyOptions& options);

std::string model_run(const std::string& model, std::uint64_t seed);
/// Only the drawn weights are random: three seeds.
Runs models_of(const StudyResults& results, const std::string& model);
std::string training_run(const std::string& variant, double rate, std::uint64_t seed);

/// Loss of one variant minus that of another, seed by seed, each at the rate that is best on the other seeds.
std::vector<double> differences(const StudyResults& results, const std::string& one,
                                const std::string& other);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::blocks
