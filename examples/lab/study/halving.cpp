#include "lab/study/halving.h"

#include <algorithm>
#include <set>
#include <utility>

#include "gradus/core/check.h"

namespace gradus::lab {

namespace {

using LossOf = std::function<std::optional<double>(const Setting&, std::uint64_t)>;

/// A setting that is still considered, and the sum of its losses so far.
struct Candidate {
  Setting setting;
  double sum = 0;
};

class Rounds {
 public:
  Rounds(const Halving& plan, const LossOf& loss)
      : plan_(plan), loss_(loss), grids_(plan.families, {plan.first, plan.last}) {
    for (std::size_t family = 0; family < plan.families; ++family)
      for (std::size_t rate = plan.first; rate <= plan.last; ++rate) candidates_.push_back({{family, rate}});
  }

  Searched result() {
    for (std::size_t round = 1; round <= plan_.seeds.size(); ++round) {
      if (round > 1) keep(round);
      do {
        if (!run(round)) return std::move(found_);
      } while (grow());
      ++found_.rounds;
    }
    const Candidate& best = candidates_.front();
    found_.chosen = best.setting;
    found_.mean = best.sum / static_cast<double>(plan_.seeds.size());
    found_.at_edge = at_first(best.setting) || at_last(best.setting);
    return std::move(found_);
  }

 private:
  bool at_first(const Setting& setting) const { return setting.rate == grids_[setting.family].first; }
  bool at_last(const Setting& setting) const { return setting.rate == grids_[setting.family].second; }

  /// Keeps the best settings.
  void keep(std::size_t round) {
    if (plan_.kept.empty()) return;
    const std::size_t kept = plan_.kept[std::min(round - 2, plan_.kept.size() - 1)];
    if (kept < candidates_.size()) candidates_.resize(kept);
  }

  /// Runs all candidates on the seeds of all rounds so far and puts the best first. False where one has not
  /// finished.
  bool run(std::size_t rounds) {
    bool all = true;
    for (Candidate& candidate : candidates_) {
      candidate.sum = 0;
      for (std::size_t i = 0; i < rounds; ++i) {
        if (asked_.insert({{candidate.setting.family, candidate.setting.rate}, i}).second)
          found_.runs.push_back({candidate.setting, plan_.seeds[i]});
        const std::optional<double> loss = loss_(candidate.setting, plan_.seeds[i]);
        all = all && loss;
        candidate.sum += loss.value_or(0);
      }
    }
    if (all)
      std::stable_sort(candidates_.begin(), candidates_.end(),
                       [](const Candidate& a, const Candidate& b) { return a.sum < b.sum; });
    return all;
  }

  /// Adds a rung for each family whose best rate is at its edge. Returns whether it added any.
  bool grow() {
    std::set<std::size_t> seen;
    std::vector<Candidate> more;
    for (const Candidate& candidate : candidates_) {
      const Setting& setting = candidate.setting;
      if (!seen.insert(setting.family).second) continue;  // not the family's best
      auto& [first, last] = grids_[setting.family];
      if (at_first(setting) && first > 0) more.push_back({{setting.family, --first}});
      if (at_last(setting) && last + 1 < plan_.ladder.size()) more.push_back({{setting.family, ++last}});
    }
    candidates_.insert(candidates_.end(), more.begin(), more.end());
    return !more.empty();
  }

  const Halving& plan_;
  const LossOf& loss_;
  std::vector<std::pair<std::size_t, std::size_t>> grids_;  // first and last place of each family
  std::vector<Candidate> candidates_;
  std::set<std::pair<std::pair<std::size_t, std::size_t>, std::size_t>> asked_;
  Searched found_;
};

}  // namespace

Searched search(const Halving& plan, const LossOf& loss) { return Rounds(plan, loss).result(); }

std::size_t runs_without_growth(std::size_t settings, std::size_t seeds,
                                const std::vector<std::size_t>& kept) {
  std::size_t runs = 0;
  for (std::size_t round = 0; round < seeds; ++round) {
    if (round > 0 && !kept.empty()) settings = std::min(settings, kept[std::min(round - 1, kept.size() - 1)]);
    runs += settings;
  }
  return runs;
}

void check_apart(const std::vector<std::uint64_t>& searching, const std::vector<std::uint64_t>& judging) {
  for (const std::uint64_t seed : searching)
    check(std::find(judging.begin(), judging.end(), seed) == judging.end(),
          "search: seed {} chooses settings and judges them; expects other seeds to judge", seed);
}

}  // namespace gradus::lab
