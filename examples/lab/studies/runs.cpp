#include "lab/studies/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradus::lab {

Runs::Runs(const StudyResults& results, const std::vector<std::uint64_t>& seeds, const RunOf& name)
    : results_(results) {
  for (const std::uint64_t seed : seeds) names_.push_back(name(seed));
}

std::vector<double> Runs::by_seed(const std::string& number) const {
  std::vector<double> values;
  for (const std::string& name : names_) values.push_back(results_.number(name, number));
  return values;
}

std::vector<double> Runs::numbers(const std::string& number) const {
  std::vector<double> values;
  for (const std::string& name : names_)
    if (results_.has(name)) values.push_back(results_.number(name, number));
  return values;
}

std::vector<std::vector<double>> Runs::curves(const std::string& series) const {
  std::vector<std::vector<double>> values;
  for (const std::string& name : names_)
    if (results_.has(name)) values.push_back(results_.series(name, series));
  return values;
}

std::string share_of(const std::vector<double>& numbers) {
  const auto above = std::count_if(numbers.begin(), numbers.end(), [](double value) { return value > 0; });
  return fmt::format("{} of {}", above, numbers.size());
}

void keep(Figures& figures, const std::string& id, double value) {
  if (std::isfinite(value)) figures[id].push_back(value);
}

}  // namespace gradus::lab
