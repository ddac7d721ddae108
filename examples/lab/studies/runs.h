#pragma once
// The runs of one setting, and their results: one number, or one curve, for each seed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/study/study.h"

namespace gradus::lab {

using RunOf = std::function<std::string(std::uint64_t seed)>;

/// `Runs(results, seeds, [&](std::uint64_t seed) { return run_name("pre", seed); }).numbers("loss")`
class Runs {
 public:
  Runs(const StudyResults& results, const std::vector<std::uint64_t>& seeds, const RunOf& name);

  /// In the order of the seeds; NaN where a run has not finished.
  std::vector<double> by_seed(const std::string& number) const;
  /// Of the finished runs.
  std::vector<double> numbers(const std::string& number) const;
  std::vector<std::vector<double>> curves(const std::string& series) const;

 private:
  const StudyResults& results_;
  std::vector<std::string> names_;
};

/// "3 of 12": how many of the numbers are above 0, such as "diverged" of all runs.
std::string share_of(const std::vector<double>& numbers);

/// Adds a seed's number to a figure of the ledger; one that is not finite is left out.
void keep(Figures& figures, const std::string& id, double value);

}  // namespace gradus::lab
