#pragma once
// The study `text`: a small GPT on the characters of a text file, with and without warm-up.
// (`gradus::text` is the tokenizers' namespace: hence this one's name.)

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/shared.h"
#include "lab/training/trial.h"

namespace gradus::lab::real_text {

/// The file that --data names, or the one in its folder; throws if there is none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& data);

struct Setting {
  std::string placement;
  std::int64_t layers = 4, warmup = 0;
  double rate = 2e-3;
};
/// "pre-L12-w0-lr0.002-s3"
std::string run_name(const Setting& setting, std::uint64_t seed);

/// The runs of the first measurement, of 600 steps, the same for all placements.
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

/// Approximate seconds of a training on one core.
double seconds_of(std::int64_t layers, std::int64_t steps);
/// The characters of the text that --data names, in windows of 32; read once for all runs that hold it.
std::shared_ptr<Shared<Task>> shared_text(const std::filesystem::path& data);

/// A number that is the same in all runs, such as the loss of the bigram; nothing before the first has
/// finished.
std::optional<double> of_any_run(const StudyResults& results, const std::string& name);
inline constexpr double kLearned = 0.1;  // nats below a model that knows only the frequencies of characters

/// The differences of the first measurement, for its part of the page: no claim is judged by them.
Figures first_figures(const StudyResults& results);
/// "4 layers: Pre-LN ends lower, on each of 5 seeds, by 0.03 (0.02 to 0.04) nats." for each depth, of the
/// figures `id`.L4, ...; `up` describes a positive difference.
std::string for_depths(const std::vector<std::int64_t>& depths, const Figures& all, const std::string& id,
                       const std::string& up, const std::string& down);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::real_text
