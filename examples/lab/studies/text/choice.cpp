// The results of the searches of the study `text`.

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/statistics/outcomes.h"
#include "lab/studies/text/comparison.h"
#include "lab/studies/text/text.h"

namespace gradus::lab::real_text {

Choice::Choice(const StudyResults& results, const Comparison& comparison, const Arm& arm)
    : results_(results), comparison_(comparison), arm_(arm) {
  const Halving halving{.families = comparison.schemes.size(),
                        .ladder = comparison.ladder,
                        .first = comparison.first,
                        .last = comparison.last,
                        .seeds = comparison.searching,
                        .kept = comparison.kept};
  for (std::size_t warmup = 0; warmup < comparison.warmups.size(); ++warmup)
    searched_.push_back(
        search(halving, [&](const lab::Setting& setting, std::uint64_t seed) -> std::optional<double> {
          const std::string run = run_name(comparison, arm, design(warmup, setting), seed);
          return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
        }));
}

Design Choice::design(std::size_t warmup, const lab::Setting& setting) const {
  return {comparison_.schemes.at(setting.family), comparison_.warmups.at(warmup),
          comparison_.ladder.at(setting.rate)};
}

std::optional<Design> Choice::chosen(std::size_t warmup) const {
  const std::optional<lab::Setting>& setting = searched_.at(warmup).chosen;
  return setting ? std::optional(design(warmup, *setting)) : std::nullopt;
}

std::optional<std::size_t> Choice::best() const {
  const auto open = [](const Searched& searched) { return !searched.chosen; };
  if (std::any_of(searched_.begin(), searched_.end(), open)) return std::nullopt;
  const auto lowest = std::min_element(searched_.begin(), searched_.end(),
                                       [](const Searched& a, const Searched& b) { return a.mean < b.mean; });
  return static_cast<std::size_t>(lowest - searched_.begin());
}

std::vector<std::size_t> Choice::judged() const {
  std::vector<std::size_t> warmups;
  if (chosen(arm_.required)) warmups.push_back(arm_.required);
  if (best() && *best() != arm_.required) warmups.push_back(*best());
  return warmups;
}

std::vector<double> Choice::losses(std::size_t warmup) const {
  std::vector<double> losses(comparison_.judging.size(), std::numeric_limits<double>::quiet_NaN());
  if (const std::optional<Design> design = chosen(warmup))
    for (std::size_t s = 0; s < losses.size(); ++s)
      losses[s] = results_.number(run_name(comparison_, arm_, *design, comparison_.judging[s]), "loss");
  return losses;
}

std::vector<std::vector<double>> Choice::series(std::size_t warmup, const std::string& name) const {
  std::vector<std::vector<double>> series(comparison_.judging.size());
  if (const std::optional<Design> design = chosen(warmup))
    for (std::size_t s = 0; s < series.size(); ++s)
      series[s] = results_.series(run_name(comparison_, arm_, *design, comparison_.judging[s]), name);
  return series;
}

double failed_loss(const StudyResults& results) {
  return of_any_run(results, "context-free").value_or(0) - kLearned;
}

double trained_loss(const StudyResults& results) { return of_any_run(results, "bigram").value_or(0); }

std::vector<double> survivors(const StudyResults& results, const Choice& choice, std::size_t warmup) {
  return without_failed(choice.losses(warmup), failed_loss(results));
}

}  // namespace gradus::lab::real_text
