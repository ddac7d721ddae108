// The results of one arm of the study `size`, seed by seed.

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/statistics/statistics.h"
#include "lab/studies/best/best.h"
#include "lab/studies/size/size.h"
#include "lab/studies/slope.h"

namespace gradus::lab::sizes {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFewestSizes = 3;

bool is_complete(const std::vector<double>& losses) { return finite(losses).size() == losses.size(); }

}  // namespace

BySeed difference(const BySeed& a, const BySeed& b) {
  BySeed both;
  for (std::size_t s = 0; s < std::min(a.values.size(), b.values.size()); ++s) {
    both.values.push_back(a.values[s] - b.values[s]);
    both.finished.push_back(a.finished[s] && b.finished[s]);
  }
  return both;
}

BySeed slopes(const std::vector<double>& x, const std::vector<BySeed>& by_size) {
  std::size_t seeds = 0;
  for (const BySeed& one : by_size) seeds = std::max(seeds, one.values.size());
  BySeed all;
  for (std::size_t s = 0; s < seeds; ++s) {
    std::vector<double> run, values;
    bool finished = true;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
      if (s >= by_size[i].values.size()) continue;
      run.push_back(x[i]), values.push_back(by_size[i].values[s]);
      finished = finished && by_size[i].finished[s];
    }
    finished = finished && run.size() >= kFewestSizes;
    all.values.push_back(finished ? slope_per_doubling(run, values) : kMissing);
    all.finished.push_back(finished);
  }
  return all;
}

double range_near_best(const std::vector<double>& losses) {
  if (finite(losses).empty()) return kMissing;
  std::vector<double> ends = losses;  // those of failed runs are above all others
  for (double& end : ends)
    if (std::isnan(end)) end = best::task().context_free_loss();
  const auto best = static_cast<std::size_t>(std::min_element(ends.begin(), ends.end()) - ends.begin());
  const double most = ends[best] + kNear;
  std::size_t low = best, high = best;
  while (low > 0 && losses[low - 1] <= most) --low;  // NaN is not
  while (high + 1 < losses.size() && losses[high + 1] <= most) ++high;
  // The part of the step to a neighbour after which the loss crosses `most`.
  const auto part = [&](std::size_t near, std::size_t far) {
    return (most - ends[near]) / (std::max(ends[far], most) - ends[near]);
  };
  return static_cast<double>(high - low) + (low > 0 ? part(low, low - 1) : 0) +
         (high + 1 < losses.size() ? part(high, high + 1) : 0);
}

Sweep::Sweep(const StudyResults& results, const Grid& grid, const Arm& arm)
    : arm_(arm), rates_(grid.rates().size()) {
  for (const std::uint64_t seed : grid.judging(arm)) {
    by_seed_.emplace_back();
    for (const double lr : grid.rates())
      by_seed_.back().push_back(results.number(run_name(arm, lr, seed), "loss"));
  }
}

template <class Number>
BySeed Sweep::of_each(const Number& number) const {
  BySeed all;
  for (const std::vector<double>& losses : by_seed_) {
    all.finished.push_back(is_complete(losses));
    all.values.push_back(is_complete(losses) ? number(best::without_failed(losses)) : kMissing);
  }
  return all;
}

BySeed Sweep::sensitivities() const {
  return of_each([](const std::vector<double>& losses) {
    return is_complete(losses) ? mean(losses) - *std::min_element(losses.begin(), losses.end()) : kMissing;
  });
}

BySeed Sweep::near_best() const { return of_each(range_near_best); }

std::vector<std::vector<double>> Sweep::by_rate() const {
  std::vector<std::vector<double>> all(rates_);
  for (const std::vector<double>& losses : by_seed_)
    for (std::size_t rate = 0; rate < rates_; ++rate) all[rate].push_back(losses[rate]);
  return all;
}

std::vector<double> Sweep::losses() const {
  std::vector<double> all;
  for (const std::vector<double>& of_seed : by_seed_)
    for (const double loss : finite(of_seed)) all.push_back(loss);
  return all;
}

bool Sweep::at_edge() const {
  std::vector<double> sums(rates_);
  bool any = false;
  for (const std::vector<double>& losses : by_seed_) {
    if (!is_complete(losses)) continue;
    any = true;
    for (std::size_t rate = 0; rate < rates_; ++rate) sums[rate] += losses[rate];
  }
  const auto lowest = std::min_element(sums.begin(), sums.end());
  return any && (lowest == sums.begin() || lowest + 1 == sums.end());
}

BySeed Chosen::surviving() const {
  BySeed all{best::without_failed(losses), {}};
  for (const double loss : losses) all.finished.push_back(std::isfinite(loss));
  return all;
}

Chosen chosen_of(const StudyResults& results, const Grid& grid, const Arm& arm) {
  Chosen chosen{search({.families = 1,
                        .ladder = grid.ladder,
                        .first = grid.first,
                        .last = grid.last,
                        .seeds = grid.searching(arm.size),
                        .kept = {kKept}},
                       [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
                         const std::string run = run_name(arm, grid.ladder[setting.rate], seed);
                         return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
                       })};
  if (chosen.searched.chosen) chosen.rate = grid.ladder[chosen.searched.chosen->rate];
  for (const std::uint64_t seed : grid.judging(arm))
    chosen.losses.push_back(chosen.rate ? results.number(run_name(arm, *chosen.rate, seed), "loss")
                                        : kMissing);
  return chosen;
}

}  // namespace gradus::lab::sizes
