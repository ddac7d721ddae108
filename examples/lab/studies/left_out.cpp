#include "lab/studies/left_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradus::lab {

namespace {

bool is_complete(const std::vector<std::vector<double>>& values, std::size_t seed) {
  return std::none_of(values.begin(), values.end(),
                      [seed](const std::vector<double>& setting) { return std::isnan(setting.at(seed)); });
}

}  // namespace

std::vector<std::optional<std::size_t>> best_of_others(const std::vector<std::vector<double>>& values) {
  if (values.empty()) return {};
  const std::size_t seeds = values.front().size();
  std::vector<std::size_t> complete;
  for (std::size_t seed = 0; seed < seeds; ++seed)
    if (is_complete(values, seed)) complete.push_back(seed);
  std::vector<std::optional<std::size_t>> best(seeds);
  for (const std::size_t seed : complete) {
    std::vector<double> sums;
    for (const std::vector<double>& setting : values) {
      double sum = complete.size() == 1 ? setting[seed] : 0;
      for (const std::size_t other : complete)
        if (other != seed) sum += setting[other];
      sums.push_back(sum);
    }
    best[seed] = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  }
  return best;
}

std::vector<double> at_chosen(const std::vector<std::vector<double>>& values,
                              const std::vector<std::optional<std::size_t>>& chosen) {
  std::vector<double> those;
  for (std::size_t seed = 0; seed < chosen.size(); ++seed)
    those.push_back(chosen[seed] ? values[*chosen[seed]][seed] : std::numeric_limits<double>::quiet_NaN());
  return those;
}

std::vector<double> left_out_best(const std::vector<std::vector<double>>& values) {
  return at_chosen(values, best_of_others(values));
}

std::vector<double> paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t seed = 0; seed < std::min(a.size(), b.size()); ++seed)
    if (!std::isnan(a[seed]) && !std::isnan(b[seed])) differences.push_back(a[seed] - b[seed]);
  return differences;
}

}  // namespace gradus::lab
