#pragma once
// Shared by the parts of the study of precision.

#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::precision {

/// Where the norms are, and which.
struct Arm {
  std::string name;   // "pre", in names of runs
  std::string title;  // "Pre-LN"
};
/// Pre-LN, Post-LN, Pre-LN with RMSNorm, DeepNorm, no norm.
const std::vector<Arm>& arms();

/// What is in bf16.
struct Mode {
  std::string name, title;
};
/// Nothing; products; products and the norms, the stream, or the softmax.
const std::vector<Mode>& modes();

/// The plan in numbers.
struct Setting {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;
  std::vector<std::int64_t> depths;  // of the stream's last bit
  bool models = true;

  /// The runs of an arm of 6 layers, or more, in a mode.
  Search search(const std::string& arm, const std::string& mode, std::int64_t layers = 6) const;
};
Setting setting_of(const StudyOptions& options);

/// Numbers "loss", "start", "diverged", "largest", the log10 of the largest absolute number that any module
/// returns on the validation set after training; in the mode "stream" of Pre-LN "vanished", the share of what
/// the last connection adds there that the stream rounds away.
Measured measure_run(const std::string& arm, const std::string& mode, std::int64_t layers, double rate,
                     std::int64_t steps, std::uint64_t seed);

/// Whole models in the settings of the programs char_gpt, gpt2 and translate, on made-up languages.
const std::vector<Titled>& models();
std::string model_name(const std::string& model, bool half, std::uint64_t seed);
/// Numbers "loss" and "start", on data that is not trained on. "copy" is translate's.
Measured measure_model(const std::string& model, bool half, std::uint64_t seed);
Runs model_runs(const StudyResults& results, const std::string& model, bool half);

/// Seed by seed: the loss in a mode minus that in another, both at the rate that is best for the other on the
/// other seeds; NaN where either run has failed.
std::vector<double> loss_between(const StudyResults& results, const Search& mode, const Search& base);
/// Seed by seed: the share of rates at which a run fails.
std::vector<double> failed_share(const StudyResults& results, const Search& search);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::precision
