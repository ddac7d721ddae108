#pragma once
// The parts of the study of attention: its settings, which plan, figures and page share.

#include <string>
#include <vector>

#include "lab/studies/charts.h"
#include "lab/studies/runs.h"
#include "lab/training/trial.h"

namespace gradus::lab::attention {

inline constexpr std::int64_t kTrainedLayers = 4;
inline constexpr double kRate = 3e-3;  // of the ledger's figures that name no rate
inline const std::vector<double> kHeadSizes = {4, 16, 64, 256, 1024};

struct Grid {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds, scale_seeds;
  std::int64_t steps = 0, axis_steps = 0;
};
Grid grid_of(const StudyOptions& options);

inline const std::vector<Titled> kVariants = {
    {"pre", "Pre-LN"}, {"post", "Post-LN"}, {"pre-qk", "Pre-LN, QK-norm"}, {"post-qk", "Post-LN, QK-norm"}};
inline const std::vector<Titled> kAxes = {
    {"keys", "keys (right)"}, {"queries", "queries"}, {"batch", "batch"}};

std::string scale_run(std::uint64_t seed);
std::string training_run(const std::string& variant, double rate, std::uint64_t seed);
std::string axis_run(const std::string& axis, std::uint64_t seed);
Runs scale_runs(const StudyResults& results);
Runs training_runs(const StudyResults& results, const std::string& variant, double rate = kRate);
Runs axis_runs(const StudyResults& results, const std::string& axis);

/// Random queries and keys of all head sizes.
Measured measure_scale(std::uint64_t seed);
/// Trains, and measures scores during training and heads at the end. Of the largest |q k| / sqrt(D):
/// "largest" its log10 after training, "growth" its size over that at the start; "turned.q", ".k", ".v": the
/// smallest angle between heads after training minus that at the start.
Measured measure_training(const std::string& variant, double rate, std::uint64_t seed, std::int64_t steps);
/// Trains with the softmax over an axis.
Measured measure_axis(const std::string& axis, std::uint64_t seed, std::int64_t steps);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::attention
