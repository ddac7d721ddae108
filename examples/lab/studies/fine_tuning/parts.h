#pragma once
// The parts of the study of fine-tuning: its settings, which plan, figures and page share.

#include <string>
#include <vector>

#include "lab/study/study.h"
#include "lab/study/trial.h"

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

/// Loss on the second language by rate; empty where the run is not there.
std::vector<double> losses_of(const StudyResults& results, const std::string& placement, std::int64_t layers,
                              std::uint64_t seed);
/// The place in Grid::rates of the best one in the mean over seeds; -1 for none.
int best_place(const StudyResults& results, const std::string& placement, std::int64_t layers);

/// One number a seed; NaN for one that is not there.
double sensitivity(const StudyResults& results, const std::string& placement, std::int64_t layers,
                   std::uint64_t seed);
double end(const StudyResults& results, const std::string& placement, std::int64_t layers,
           std::uint64_t seed);
double forgetting(const StudyResults& results, const std::string& placement, std::int64_t layers,
                  std::uint64_t seed);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::fine_tuning
