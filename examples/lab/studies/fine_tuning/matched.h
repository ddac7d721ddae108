#pragma once
// Forgetting, compared fairly: both placements begin to fine-tune at the same loss on the first language, at
// the same rates, and their forgetting is read where both have the same loss on the second.

#include <optional>
#include <string>
#include <vector>

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab::fine_tuning {

struct MatchedGrid {
  std::vector<std::int64_t> depths;
  double first_rate = 1e-3;  // of pre-training, constant after the warm-up
  std::int64_t first_steps = 2000, warmup = 200;
  std::vector<double> rates = {3e-4, 1e-3, 3e-3};  // of fine-tuning
  std::int64_t steps = 1000;
  std::int64_t every = 10;  // steps between two measurements of both losses
  std::vector<std::uint64_t> seeds = {};
};
MatchedGrid matched_grid_of(const StudyOptions& options);

/// The loss at which pre-training ends, of the mean of 20 batches: nine tenths of the way from the best
/// n-gram to the entropy.
double first_target();
/// The loss on the second language at which forgetting is compared: half-way from n-gram to entropy.
double second_target();

/// "matched-post-L12-s3280"
std::string matched_name(const std::string& placement, std::int64_t layers, std::uint64_t seed);
/// The name of a number or series of one rate of fine-tuning: "rise-lr0.001".
std::string of_rate(const std::string& name, double rate);

/// Where a falling curve first comes down to `level`, interpolated: the value of `y` there. NaN: never.
double value_at(const std::vector<double>& falling, const std::vector<double>& y, double level);

/// Pre-trains to first_target() and fine-tunes at each rate to second_target(). Numbers "first-loss" on the
/// validation set, "first-steps" of pre-training and "rise-lr..", how much higher the loss on the first
/// language is where that on the second comes down to its target; NaN where a target is never reached. Series
/// "second-lr.." and "first-lr..": both losses along fine-tuning.
Measured measure_matched(const std::string& placement, std::int64_t layers, std::uint64_t seed,
                         const MatchedGrid& grid);

std::vector<StudyRun> matched_plan(const StudyOptions& options);
void add_matched_figures(Figures& figures, const StudyResults& results);
void report_matched(Page& page, const StudyResults& results);

}  // namespace gradus::lab::fine_tuning
