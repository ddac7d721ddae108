// The results of the searches of the study `papers`.

#include <limits>

#include "lab/studies/papers/papers.h"

namespace gradus::lab::papers {

ArmResults::ArmResults(const StudyResults& results, const Grid& grid, const Arm& arm)
    : results_(results), grid_(grid), arm_(arm) {
  const Halving halving{.families = arm.warmups.size(),
                        .ladder = grid.ladder,
                        .first = grid.first,
                        .last = grid.last,
                        .seeds = grid.searching,
                        .kept = grid.kept};
  searched_ = search(halving, [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
    const std::string run = run_name(arm_, design(setting), seed);
    return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
  });
}

Design ArmResults::design(const Setting& setting) const {
  return {grid_.warmups.at(arm_.warmups.at(setting.family)), grid_.ladder.at(setting.rate)};
}

std::optional<Design> ArmResults::chosen() const {
  return searched_.chosen ? std::optional(design(*searched_.chosen)) : std::nullopt;
}

std::vector<std::string> ArmResults::judged() const {
  std::vector<std::string> names;
  if (const std::optional<Design> design = chosen())
    for (const std::uint64_t seed : grid_.judging) names.push_back(run_name(arm_, *design, seed));
  return names;
}

std::vector<double> ArmResults::numbers(const std::string& name) const {
  std::vector<double> all;
  for (const std::string& run : judged()) all.push_back(results_.number(run, name));
  all.resize(grid_.judging.size(), std::numeric_limits<double>::quiet_NaN());
  return all;
}

std::vector<std::vector<double>> ArmResults::curves(const std::string& name) const {
  std::vector<std::vector<double>> all;
  for (const std::string& run : judged())
    if (results_.has(run)) all.push_back(results_.series(run, name));
  return all;
}

std::optional<ArmResults> results_of(const StudyResults& results, const Grid& grid, const std::string& arm) {
  for (const Arm& one : grid.arms)
    if (one.name == arm) return ArmResults(results, grid, one);
  return std::nullopt;
}

}  // namespace gradus::lab::papers
