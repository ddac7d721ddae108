// One number per judging seed for each question, and the referee's objections.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/best/best.h"
#include "lab/studies/runs.h"
#include "lab/studies/size/size.h"

namespace gradus::lab::sizes {

namespace {

class Builder {
 public:
  Builder(Figures& all, const StudyResults& results)
      : all_(all), results_(results), grid_(grid_of(results.options)) {}

  void add_all() {
    for (const Line& line : grid_.both_lines()) add_line(line), add_best(line);
    for (const SizeSeeds& one : grid_.sizes)
      for (const std::string& placement : kPlacements)
        for (const Titled& variant : kVariants)
          if (one.others > 0 && variant.name != "warm") add_effect({placement, one.size, variant.name});
  }

 private:
  Sweep sweep(const Arm& arm) const { return {results_, grid_, arm}; }

  /// A figure of the seeds on which no run has failed.
  void add(const std::string& id, const BySeed& numbers) {
    std::size_t kept = 0, finished = 0;
    for (std::size_t s = 0; s < numbers.values.size(); ++s) {
      if (!numbers.finished[s]) continue;
      ++finished;
      if (std::isfinite(numbers.values[s])) ++kept;
      keep(all_, id, numbers.values[s]);
    }
    all_.object(id, failed_runs(kept, finished));
  }

  /// The same of arms each of which must train, with its best rate inside the grid: of several objections the
  /// first counts.
  void add(const std::string& id, const BySeed& numbers, const std::vector<Sweep>& arms) {
    for (const Sweep& arm : arms)
      all_.object(id, trains_nowhere(arm.losses(), best::learned_loss(), arm.arm().title()));
    add(id, numbers);
    for (const Sweep& arm : arms) all_.object(id, end_of_search(arm.at_edge(), arm.arm().title()));
  }

  /// What a doubling adds to the difference between the placements.
  void add_line(const Line& line) {
    std::vector<Sweep> arms;
    std::vector<BySeed> sensitivity, near;
    for (const Size& size : line.sizes) {
      const Sweep pre = sweep({kPlacements[0], size}), post = sweep({kPlacements[1], size});
      sensitivity.push_back(difference(post.sensitivities(), pre.sensitivities()));
      near.push_back(difference(pre.near_best(), post.near_best()));  // the more, the less sensitive
      arms.push_back(pre), arms.push_back(post);
    }
    add(line.name + ".sensitivity", slopes(line.x, sensitivity), arms);
    add(line.name + ".near", slopes(line.x, near), arms);
  }

  void add_best(const Line& line) {
    const std::string id = line.name + ".best";
    std::vector<std::pair<Arm, Chosen>> arms;
    std::vector<BySeed> gaps;
    for (const Size& size : line.sizes) {
      std::vector<BySeed> losses;
      for (const std::string& placement : kPlacements) {
        const Arm arm{placement, size};
        arms.emplace_back(arm, chosen_of(results_, grid_, arm));
        losses.push_back(arms.back().second.surviving());
      }
      gaps.push_back(difference(losses[1], losses[0]));
    }
    for (const auto& [arm, chosen] : arms)
      all_.object(id, trains_nowhere(finite(chosen.losses), best::learned_loss(), arm.title()));
    add(id, slopes(line.x, gaps));
    for (const auto& [arm, chosen] : arms) {
      all_.object(id, end_of_search(chosen.searched.at_edge, arm.title()));
      limit_by_headroom(id, finite(chosen.surviving().values));
    }
  }

  /// The distance of the best arm's surviving runs to the entropy.
  void limit_by_headroom(const std::string& id, const std::vector<double>& losses) {
    if (losses.empty()) return;
    const double above = mean(losses) - best::task().entropy().value();
    const auto [known, is_new] = all_.headroom.emplace(id, above);
    if (!is_new) known->second = std::min(known->second, above);
  }

  /// How much less sensitive a model is with QK-norm, z-loss or warm-up than without.
  void add_effect(const Arm& arm) {
    const bool warmup = arm.variant == "cold";
    const Sweep warm = sweep({arm.placement, arm.size}), other = sweep(arm);
    const Sweep &with = warmup ? warm : other, &without = warmup ? other : warm;
    const auto id = [&](const char* what) {
      return fmt::format("{}.{}.{}", warmup ? "warm-up" : arm.variant, what, arm.model());
    };
    add(id("sensitivity"), difference(without.sensitivities(), with.sensitivities()), {with, without});
    add(id("near"), difference(with.near_best(), without.near_best()), {with, without});
  }

  Figures& all_;
  const StudyResults& results_;
  Grid grid_;
};

}  // namespace

Figures figures(const StudyResults& results) {
  Figures all;
  Builder(all, results).add_all();
  return all;
}

}  // namespace gradus::lab::sizes
