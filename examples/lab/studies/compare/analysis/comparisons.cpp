#include "lab/studies/compare/analysis/comparisons.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "lab/statistics/format.h"

namespace gradus::lab::compare {

namespace {

/// The reliability and the mean loss, over the settings a seed has finished with both placements.
void compare_all(const Analysis& analysis, Comparisons& result) {
  const auto& [first, second] = analysis.settings.placements;
  std::vector<double> learned, losses;
  for (const std::uint64_t seed : analysis.seeds()) {
    std::vector<double> of_seed;
    double ahead = 0;
    for (const Cell& one : analysis.grid) {
      const RunOptions& setting = one.setting;
      if (setting.placement != first) continue;
      const Cell& other = analysis.cell(second, setting.layers, setting.lr, setting.warmup);
      const auto a = one.run_of(seed), b = other.run_of(seed);
      if (!a || !b) continue;
      of_seed.push_back(other.losses[*b] - one.losses[*a]);
      ++result.pairs;
      result.runs_learned[0] += one.learned[*a], result.runs_learned[1] += other.learned[*b];
      ahead += static_cast<double>(one.learned[*a]) - static_cast<double>(other.learned[*b]);
    }
    if (of_seed.empty()) continue;
    learned.push_back(ahead);
    losses.push_back(mean(of_seed));
  }
  result.learned = {fmt::format("settings that learned, all settings: {} - {}", first.name, second.name),
                    learned, difference_of(learned)};
  result.loss = {"mean loss, all settings: " + difference_label(analysis.settings.placements), losses,
                 difference_of(losses)};
}

void compare_best(const Analysis& analysis, Comparisons& result) {
  const Placements& placements = analysis.settings.placements;
  for (const std::int64_t layers : analysis.settings.depths) {
    ForEach<std::vector<double>> losses, rates;
    std::vector<double> differences;
    for (const std::uint64_t seed : analysis.seeds()) {
      const ForEach<std::optional<Best>> best = {analysis.best(placements[0], layers, seed),
                                                 analysis.best(placements[1], layers, seed)};
      if (!best[0] || !best[1]) continue;
      differences.push_back(best[1]->loss - best[0]->loss);
      for (const std::size_t i : {0, 1}) {
        losses[i].push_back(best[i]->loss);
        rates[i].push_back(best[i]->lr);
      }
    }
    if (differences.empty()) continue;
    const std::string about = fmt::format("loss at the best rate and warm-up of each seed, {}: {}",
                                          counted(layers, "layer"), difference_label(placements));
    result.best.push_back({layers,
                           {mean(losses[0]), mean(losses[1])},
                           {about, differences, difference_of(differences)},
                           std::move(rates)});
  }
}

void compare_sensitivity(const Analysis& analysis, Comparisons& result) {
  const Settings& settings = analysis.settings;
  if (settings.lrs.size() < 2) return;
  const std::int64_t layers = settings.depths.back(), warmup = settings.warmups.front();
  const std::vector<double> differences =
      paired(analysis.sensitivity(settings.placements[0], layers, warmup),
             analysis.sensitivity(settings.placements[1], layers, warmup));
  if (differences.empty()) return;
  result.deepest.push_back({fmt::format("learning-rate sensitivity, {}, {}: {}", counted(layers, "layer"),
                                        describe_warmup(warmup), difference_label(settings.placements)),
                            differences, difference_of(differences)});
}

void compare_ablations(const Analysis& analysis, Comparisons& result) {
  for (const Cell& cell : analysis.ablations) {
    const RunOptions& run = cell.setting;
    const std::vector<double> differences =
        paired(analysis.cell(run.placement, run.layers, run.lr, run.warmup), cell);
    if (differences.empty()) continue;
    const std::string about =
        fmt::format("loss of {} {}: change", run.placement.name, describe_ablation(run));
    result.ablations.push_back({run, {about, differences, difference_of(differences)}});
  }
}

}  // namespace

Comparisons comparisons_of(const Analysis& analysis) {
  Comparisons result;
  compare_all(analysis, result);
  compare_best(analysis, result);
  compare_sensitivity(analysis, result);
  compare_ablations(analysis, result);

  result.learned.p = result.learned.difference.p();
  std::vector<Comparison*> others = {&result.loss};
  for (BestOfDepth& best : result.best) others.push_back(&best.comparison);
  for (Comparison& one : result.deepest) others.push_back(&one);
  for (AblationChange& change : result.ablations) others.push_back(&change.comparison);
  std::vector<double> p;
  for (const Comparison* one : others) p.push_back(one->difference.p());
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < others.size(); ++i) others[i]->p = corrected[i];
  return result;
}

}  // namespace gradus::lab::compare
