#pragma once
// The parts of the study of fine-tuning: its settings, which plan, figures and page share.

#include <optional>
#include <string>
#include <vector>

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab::fine_tuning {

struct Grid {
  std::vector<std::int64_t> depths;
  std::vector<double> first_rates, rates;  // of pre-training and of fine-tuning
  std::vector<std::uint64_t> seeds;
  std::int64_t first_steps = 0, warmup = 0, steps = 0;
};
Grid grid_of(const StudyOptions& options);

inline const std::vector<std::string> kPlacements = {"Pre-LN", "Post-LN"};

/// The second language: as many characters as the first, 7 boxes of 3 things instead of 4 of 6, so that every
/// character but the newline and the first names means something else.
const Task& second_task();

std::string run_name(const std::string& placement, std::int64_t layers, std::uint64_t seed);
Measured measure(const std::string& placement, std::int64_t layers, std::uint64_t seed, const Grid& grid);

/// [rate][seed] of a series that has a number for each rate of fine-tuning; NaN where the run is missing.
std::vector<std::vector<double>> by_rate(const StudyResults& results, const std::string& placement,
                                         std::int64_t layers, const std::string& series);

/// For each seed the index in Grid::rates that is best on the other seeds, by the loss after fine-tuning.
std::vector<std::optional<std::size_t>> best_places(const StudyResults& results, const std::string& placement,
                                                    std::int64_t layers);

/// In the order of the seeds; NaN for a missing one. The mean over rates of the loss above that at the best
/// rate; the loss at the best rate; the forgetting at the best rate.
std::vector<double> sensitivities(const StudyResults& results, const std::string& placement,
                                  std::int64_t layers);
std::vector<double> ends(const StudyResults& results, const std::string& placement, std::int64_t layers);
std::vector<double> forgetting(const StudyResults& results, const std::string& placement,
                               std::int64_t layers);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::fine_tuning
