#pragma once
// The study `text`: a small GPT on the characters of a text file, with and without warm-up.
// (`gradus::text` is the tokenizers' namespace: hence this one's name.)

#include <filesystem>
#include <string>
#include <vector>

#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab::real_text {

/// What a budget has; all placements have all of it.
struct Grid {
  std::vector<std::string> placements;  // titles: "Pre-LN"
  std::vector<std::int64_t> depths, warmups;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;
};
Grid grid_of(const StudyOptions& options);

struct Setting {
  std::string placement;
  std::int64_t layers = 4, warmup = 0;
  double rate = 2e-3;
};
/// "pre-L12-w0-lr0.002-s3"
std::string run_name(const Setting& setting, std::uint64_t seed);

/// nanoGPT's setting for a CPU with half the width, half the context and fewer steps.
TrialOptions trial_options(const Setting& setting, std::int64_t steps, std::uint64_t seed);
nn::GPT new_gpt(const Task& task, const TrialOptions& options);

/// The runs' numbers as rows [rate and warm-up][seed] of one placement and depth; `warmups` are those of the
/// grid that count. NaN where a run has not finished.
struct Rows {
  std::vector<Setting> settings;
  std::vector<std::vector<double>> losses;
};
Rows rows_of(const StudyResults& results, const std::string& placement, std::int64_t layers,
             const std::vector<std::int64_t>& warmups);
/// The losses at each seed's setting, which the other seeds chose.
std::vector<double> best_losses(const Rows& rows);

/// The share of all parts of a training after which `losses` (means over equal parts of it) is at most
/// `target`, on the straight line from part to part; 1 where it is not before the end. NaN for no losses.
double share_to(const std::vector<double>& losses, double target);

std::vector<StudyRun> plan(const StudyOptions& options);
Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::real_text
