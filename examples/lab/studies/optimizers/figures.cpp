// One number per seed for each question about optimizers and curvature.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/claims/referee.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/optimizers/stable.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

/// For each seed, over the members of a group: the range of the losses at their best rate, with or without
/// warm-up, and the share of all settings that trained.
struct Group {
  std::vector<double> range, trained;
};

Group group_of(const StudyResults& results, const Grid& grid, const std::string& name,
               std::size_t placement) {
  std::vector<std::vector<double>> best, counts;
  double settings = 0;
  for (const Variant* variant : grid.members(name)) {
    best.push_back(best_of(results, all_losses_of(grid, *variant, placement)).values);
    for (const Search& search : all_losses_of(grid, *variant, placement)) {
      counts.push_back(count_below(results, search, learned_loss()));
      settings += static_cast<double>(search.rates.size());
    }
  }
  Group group;
  for (std::size_t s = 0; s < grid.seeds.size(); ++s) {
    std::vector<double> losses;
    double trained = 0;
    for (const std::vector<double>& of_variant : best) losses.push_back(of_variant[s]);
    for (const std::vector<double>& of_search : counts) trained += of_search[s];
    const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
    group.trained.push_back(trained / settings);
    group.range.push_back(finite(losses).size() < losses.size() ? kit::nothing : *most - *least);
  }
  return group;
}

void add_group(Figures& figures, const StudyResults& results, const Grid& grid, const std::string& name) {
  if (grid.members(name).size() < 2) return;
  const Group pre = group_of(results, grid, name, 0), post = group_of(results, grid, name, 1);
  figures["trained." + name] = paired_difference(pre.trained, post.trained);
  figures["range." + name] = paired_difference(post.range, pre.range);
}

/// The sharpness at an index of the grid's steps; NaN where the run diverged before, or has no positive
/// curvature.
double sharpness_at(const StudyResults& results, const Curve& curve, std::size_t place) {
  const std::vector<double> all = results.series(curve.name(), "sharpness");
  return place < all.size() && all[place] > 0 ? all[place] : std::nan("");
}

/// log2 of `a` over `b`. The claim is about runs that diverged before, so a value that is not finite counts
/// as higher than any number, and seeds can be counted; if neither is finite, nothing is added.
void add_doublings(Figures& figures, const std::string& id, double a, double b) {
  if (std::isfinite(a) && std::isfinite(b))
    figures[id].push_back(std::log2(a / b));
  else if (std::isfinite(a) || std::isfinite(b))
    figures[id].push_back(std::isfinite(b) ? kDivergedDoublings : -kDivergedDoublings);
}

void add_curvature(Figures& figures, const StudyResults& results, const Grid& grid,
                   const std::string& optimizer, std::size_t placement) {
  const std::string where = fmt::format("{}.{}", optimizer, word_of(placement));
  std::size_t finished = 0, left = 0;
  for (const std::uint64_t seed : grid.seeds) {
    const Curve cold{optimizer, placement, false, seed}, warm{optimizer, placement, true, seed};
    if (!results.has(cold.name()) || !results.has(warm.name())) continue;
    const bool both =
        survives(results.number(cold.name(), "loss")) && survives(results.number(warm.name(), "loss"));
    ++finished;
    if (both) ++left;
    const double start = sharpness_at(results, warm, 0);
    const double end = sharpness_at(results, warm, grid.end_of_warmup());
    add_doublings(figures, "fall." + where, start, end);
    // A failed run ends in a flat place: its curvature is not what made it fail.
    if (both) add_doublings(figures, "gap." + where, sharpness_at(results, cold, grid.end_of_warmup()), end);
    if (optimizer == "momentum" && std::isfinite(start))
      figures["unstable." + where].push_back(std::log2(start / kStable));
  }
  figures.object("gap." + where, failed_runs(left, finished));
}

}  // namespace

Search losses_of(const Grid& grid, const Variant& variant, std::size_t placement, bool warm) {
  return {
      .rates = grid.lrs(variant), .seeds = grid.seeds, .run = [=, &variant](double lr, std::uint64_t seed) {
        return run_name(variant, placement, warm, lr, seed);
      }};
}

std::vector<Search> all_losses_of(const Grid& grid, const Variant& variant, std::size_t placement) {
  return {losses_of(grid, variant, placement, false), losses_of(grid, variant, placement, true)};
}

std::vector<double> gains(const StudyResults& results, const Variant& variant, std::size_t placement) {
  const Grid grid = grid_of(results.options);
  return paired_difference(best_of(results, losses_of(grid, variant, placement, false)).values,
                           best_of(results, losses_of(grid, variant, placement, true)).values);
}

std::vector<double> more_rates(const StudyResults& results, const Variant& variant, std::size_t placement) {
  const Grid grid = grid_of(results.options);
  return paired_difference(count_below(results, losses_of(grid, variant, placement, true), learned_loss()),
                           count_below(results, losses_of(grid, variant, placement, false), learned_loss()));
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const Variant* variant : grid.variants) {
    all["gain." + variant->name] = gains(results, *variant, 1);
    all["more-rates." + variant->name] = more_rates(results, *variant, 1);
  }
  for (const std::string& group : kGroups) add_group(all, results, grid, group);
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements)
      add_curvature(all, results, grid, optimizer, placement);
  add_stable_figures(all, results);
  return all;
}

}  // namespace gradus::lab::optimizers
