#pragma once
// The study `text`: a small GPT on the characters of a text file, with and without warm-up.
// (`gradus::text` is the tokenizers' namespace: hence this one's name.)

#include <filesystem>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/training/trial.h"

namespace gradus::lab::real_text {

/// The file that --data names, or the one in its folder; throws if there is none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& data);
/// Its characters, in windows of 32.
Task task_of(const std::filesystem::path& data);

struct Setting {
  std::string placement;
  std::int64_t layers = 4, warmup = 0;
  double rate = 2e-3;
};
/// "pre-L12-w0-lr0.002-s3"
std::string run_name(const Setting& setting, std::uint64_t seed);

/// The runs of a budget, the same for all placements.
struct Grid {
  std::vector<std::string> placements;  // titles: "Pre-LN"
  std::vector<std::int64_t> depths, warmups;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;

  /// All rates with each of these warm-ups.
  std::vector<Search> searches(const std::string& placement, std::int64_t layers,
                               const std::vector<std::int64_t>& of_warmups) const;
};
Grid grid_of(const StudyOptions& options);

/// nanoGPT's setting for a CPU with half the width, half the context and fewer steps.
TrialOptions trial_options(const Setting& setting, std::int64_t steps, std::uint64_t seed);
nn::GPT new_gpt(const Task& task, const TrialOptions& options);

inline constexpr std::size_t kParts = 20;  // of a run's series "losses"
/// The share of all parts of a training after which `losses` (means over equal parts of it) is at most
/// `target`, interpolated linearly between parts; 1 if not before the end. NaN for no losses.
double share_to(const std::vector<double>& losses, double target);

std::vector<StudyRun> plan(const StudyOptions& options);
Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::real_text
