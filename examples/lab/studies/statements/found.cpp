// The languages of the study `statements`, and the results of its searches.

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/check.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/search.h"
#include "lab/studies/statements/statements.h"

namespace gradus::lab::statements {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Task language(std::int64_t chain) {
  return Task(RecallOptions{.boxes = 10, .things = 5, .length = 32, .chain = chain});
}

Halving halving_of(const Grid& grid) {
  return {.families = 1,
          .ladder = grid.ladder,
          .first = grid.first,
          .last = grid.last,
          .seeds = grid.searching,
          .kept = grid.kept};
}

}  // namespace

const Task& task(std::int64_t chain) {
  static const std::array<Task, kChains.size()> all = {language(0), language(1), language(2)};
  return all.at(static_cast<std::size_t>(chain));
}

double learned_loss(std::int64_t chain) { return task(chain).ngram().loss; }

double learnable(std::int64_t chain) {
  return task(chain).context_free_loss() - task(chain).entropy().value();
}

Found::Found(const StudyResults& results, const Grid& grid, const Arm& arm)
    : results_(results), grid_(grid), arm_(arm) {
  searched_ =
      search(halving_of(grid), [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
        const std::string run = run_name(arm, Early::warm_up, grid.ladder[setting.rate], seed);
        return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
      });
}

std::optional<double> Found::rate() const {
  return searched_.chosen ? std::optional(grid_.ladder[searched_.chosen->rate]) : std::nullopt;
}

std::vector<double> Found::numbers(Early early, const std::string& name) const {
  std::vector<double> all;
  for (const std::uint64_t seed : grid_.seeds_of(arm_, early))
    all.push_back(rate() ? results_.number(run_name(arm_, early, *rate(), seed), name) : kMissing);
  return all;
}

std::vector<double> Found::surviving(Early early) const {
  return without_failed(losses(early), task(arm_.chain).context_free_loss());
}

std::vector<std::vector<double>> Found::curves(Early early) const {
  std::vector<std::vector<double>> all;
  const std::vector<double> ends = surviving(early);
  const std::vector<std::uint64_t> seeds = grid_.seeds_of(arm_, early);
  for (std::size_t s = 0; s < seeds.size(); ++s)
    if (!std::isnan(ends[s]))
      all.push_back(results_.series(run_name(arm_, early, *rate(), seeds[s]), "losses"));
  return all;
}

Arms::Arms(const StudyResults& results, const Grid& grid) {
  for (const Arm& arm : grid.arms()) all_.emplace_back(results, grid, arm);
}

const Found& Arms::of(const std::string& block, std::int64_t layers, std::int64_t chain) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Found& one) {
    return one.arm().block == block && one.arm().layers == layers && one.arm().chain == chain;
  });
  check(found != all_.end(), "statements: there is no arm {}", Arm{block, layers, chain}.name());
  return *found;
}

std::vector<double> relative_gap(const Arms& arms, std::int64_t layers, std::int64_t chain) {
  std::vector<double> gaps =
      minus(arms.of("post", layers, chain).surviving(), arms.of("pre", layers, chain).surviving());
  for (double& gap : gaps) gap /= learnable(chain);
  return gaps;
}

std::vector<double> group_correlations(const std::vector<double>& x, const std::vector<double>& y,
                                       const std::vector<double>& finished, std::size_t group) {
  std::vector<double> all;
  for (std::size_t begin = 0; begin + group <= finished.size(); begin += group) {
    std::vector<double> a, b;
    bool open = false;
    for (std::size_t s = begin; s < begin + group; ++s) {
      open = open || std::isnan(finished[s]);
      if (std::isfinite(x.at(s)) && std::isfinite(y.at(s))) a.push_back(x[s]), b.push_back(y[s]);
    }
    if (!open) all.push_back(a.size() >= kLeastPairs ? rank_correlation(a, b) : kMissing);
  }
  return all;
}

}  // namespace gradus::lab::statements
