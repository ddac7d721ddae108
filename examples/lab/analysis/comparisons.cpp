#include "lab/analysis/comparisons.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "lab/names.h"

namespace gradus::lab {

namespace {

/// The reliability and the mean loss, over the settings a seed has finished with both placements.
void compare_all(const Analysis& analysis, Comparisons& result) {
  std::vector<double> learned, losses;
  for (const std::uint64_t seed : analysis.seeds()) {
    std::vector<double> of_seed;
    double ahead = 0;
    for (const Cell& pre : analysis.grid) {
      const RunOptions& setting = pre.setting;
      if (setting.placement == Placement::post) continue;
      const Cell& post = analysis.cell(Placement::post, setting.layers, setting.lr, setting.warmup);
      const auto a = pre.run_of(seed), b = post.run_of(seed);
      if (!a || !b) continue;
      of_seed.push_back(post.losses[*b] - pre.losses[*a]);
      ++result.pairs;
      result.pre_learned += pre.learned[*a], result.post_learned += post.learned[*b];
      ahead += static_cast<double>(pre.learned[*a]) - static_cast<double>(post.learned[*b]);
    }
    if (of_seed.empty()) continue;
    learned.push_back(ahead);
    losses.push_back(mean(of_seed));
  }
  result.learned = {"settings that learned, all settings: Pre-LN - Post-LN", difference_of(learned)};
  result.loss = {"mean loss, all settings: Post-LN - Pre-LN", difference_of(losses)};
}

void compare_best(const Analysis& analysis, Comparisons& result) {
  for (const std::int64_t layers : analysis.options.depths) {
    std::vector<double> pre, post, differences, pre_rates, post_rates;
    for (const std::uint64_t seed : analysis.seeds()) {
      const auto a = analysis.best(Placement::pre, layers, seed),
                 b = analysis.best(Placement::post, layers, seed);
      if (!a || !b) continue;
      pre.push_back(a->loss), post.push_back(b->loss), differences.push_back(b->loss - a->loss);
      pre_rates.push_back(a->lr), post_rates.push_back(b->lr);
    }
    if (differences.empty()) continue;
    const std::string about = fmt::format(
        "loss at the best rate and warm-up of each seed, {}: Post-LN - Pre-LN", counted(layers, "layer"));
    result.best.push_back({layers,
                           mean(pre),
                           mean(post),
                           {about, difference_of(differences)},
                           std::move(pre_rates),
                           std::move(post_rates)});
  }
}

void compare_sensitivity(const Analysis& analysis, Comparisons& result) {
  const LabOptions& options = analysis.options;
  if (options.lrs.size() < 2) return;
  const std::int64_t layers = options.depths.back(), warmup = options.warmups.front();
  const std::vector<double> differences = paired(analysis.sensitivity(Placement::pre, layers, warmup),
                                                 analysis.sensitivity(Placement::post, layers, warmup));
  if (differences.empty()) return;
  result.deepest.push_back({fmt::format("learning-rate sensitivity, {}, {}: Post-LN - Pre-LN",
                                        counted(layers, "layer"), warmup_words(warmup)),
                            difference_of(differences)});
}

void compare_ablations(const Analysis& analysis, Comparisons& result) {
  for (const Cell& cell : analysis.ablations) {
    const RunOptions& run = cell.setting;
    const std::vector<double> differences =
        paired(analysis.cell(run.placement, run.layers, run.lr, run.warmup), cell);
    if (differences.empty()) continue;
    const std::string about =
        fmt::format("loss of {} {}: change", title_of(run.placement), ablation_words(run));
    result.ablations.push_back({run, {about, difference_of(differences)}});
  }
}

}  // namespace

Comparisons compare(const Analysis& analysis) {
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

}  // namespace gradus::lab
