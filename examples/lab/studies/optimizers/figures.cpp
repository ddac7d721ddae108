// One number a seed for each question about optimizers and curvature.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/studies/left_out.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

double trained(const std::vector<double>& losses) {
  return static_cast<double>(
      std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); }));
}

/// Of every member of a group the loss at its best rate, with or without warm-up, and how many settings
/// trained.
struct Group {
  std::vector<double> best;
  double trained = 0, settings = 0;
};

std::optional<Group> group_of(const StudyResults& results, const Grid& grid, const std::string& name,
                              std::size_t placement, std::size_t place) {
  const std::uint64_t seed = grid.seeds[place];
  Group group;
  for (const Variant* variant : grid.members(name)) {
    std::vector<double> all;
    for (const bool warm : {false, true}) {
      const auto losses = losses_of(results, grid, *variant, placement, warm, seed);
      if (!losses) return std::nullopt;
      all.insert(all.end(), losses->begin(), losses->end());
    }
    group.best.push_back(best_losses(results, grid, *variant, placement, {false, true})[place]);
    group.trained += trained(all);
    group.settings += static_cast<double>(all.size());
  }
  const bool complete =
      std::none_of(group.best.begin(), group.best.end(), [](double x) { return std::isnan(x); });
  if (group.best.size() < 2 || !complete) return std::nullopt;
  return group;
}

double range_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low;
}

void add_group(Figures& figures, const StudyResults& results, const Grid& grid, const std::string& name) {
  for (std::size_t place = 0; place < grid.seeds.size(); ++place) {
    const auto pre = group_of(results, grid, name, 0, place), post = group_of(results, grid, name, 1, place);
    if (!pre || !post) continue;
    figures["trained." + name].push_back(pre->trained / pre->settings - post->trained / post->settings);
    figures["range." + name].push_back(range_of(post->best) - range_of(pre->best));
  }
}

/// The sharpness at a place of the grid's steps; NaN where the run diverged before, or has no positive
/// curvature.
double sharpness_at(const StudyResults& results, const Curve& curve, std::size_t place) {
  const std::vector<double> all = results.series(curve.name(), "sharpness");
  return place < all.size() && all[place] > 0 ? all[place] : std::nan("");
}

/// log2 of `a` over `b`. Runs that diverged before are those the claim is about: not finite counts as higher
/// than any number, so that seeds can be counted; nothing where neither is finite.
void add_doublings(Figures& figures, const std::string& id, double a, double b) {
  if (std::isfinite(a) && std::isfinite(b))
    figures[id].push_back(std::log2(a / b));
  else if (std::isfinite(a) || std::isfinite(b))
    figures[id].push_back(std::isfinite(b) ? kDivergedDoublings : -kDivergedDoublings);
}

void add_curvature(Figures& figures, const StudyResults& results, const Grid& grid,
                   const std::string& optimizer, std::size_t placement) {
  const std::string where = fmt::format("{}.{}", optimizer, word_of(placement));
  for (const std::uint64_t seed : grid.seeds) {
    const Curve cold{optimizer, placement, false, seed}, warm{optimizer, placement, true, seed};
    if (!results.has(cold.name()) || !results.has(warm.name())) continue;
    const double start = sharpness_at(results, warm, 0);
    const double end = sharpness_at(results, warm, grid.end_of_warmup());
    add_doublings(figures, "fall." + where, start, end);
    add_doublings(figures, "gap." + where, sharpness_at(results, cold, grid.end_of_warmup()), end);
    if (optimizer == "momentum" && std::isfinite(start))
      figures["unstable." + where].push_back(std::log2(start / kStable));
  }
}

}  // namespace

std::optional<std::vector<double>> losses_of(const StudyResults& results, const Grid& grid,
                                             const Variant& variant, std::size_t placement, bool warm,
                                             std::uint64_t seed) {
  std::vector<std::string> names;
  for (const double lr : grid.lrs(variant)) names.push_back(run_name(variant, placement, warm, lr, seed));
  return numbers_of(results, names, "loss");
}

std::vector<double> best_losses(const StudyResults& results, const Grid& grid, const Variant& variant,
                                std::size_t placement, const std::vector<bool>& warmups) {
  const std::size_t rates = grid.lrs(variant).size();
  std::vector<std::vector<double>> values(rates * warmups.size(),
                                          std::vector<double>(grid.seeds.size(), std::nan("")));
  for (std::size_t w = 0; w < warmups.size(); ++w)
    for (std::size_t s = 0; s < grid.seeds.size(); ++s)
      if (const auto losses = losses_of(results, grid, variant, placement, warmups[w], grid.seeds[s]))
        for (std::size_t r = 0; r < rates; ++r) values[w * rates + r][s] = (*losses)[r];
  return left_out_best(values);
}

std::vector<double> gains(const StudyResults& results, const Grid& grid, const Variant& variant,
                          std::size_t placement) {
  return paired_difference(best_losses(results, grid, variant, placement, {false}),
                           best_losses(results, grid, variant, placement, {true}));
}

std::vector<double> more_rates(const StudyResults& results, const Grid& grid, const Variant& variant,
                               std::size_t placement) {
  std::vector<double> all;
  for (const std::uint64_t seed : grid.seeds) {
    const auto cold = losses_of(results, grid, variant, placement, false, seed),
               warm = losses_of(results, grid, variant, placement, true, seed);
    if (cold && warm) all.push_back(trained(*warm) - trained(*cold));
  }
  return all;
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const Variant* variant : grid.variants) {
    all["gain." + variant->name] = gains(results, grid, *variant, 1);
    all["more-rates." + variant->name] = more_rates(results, grid, *variant, 1);
  }
  for (const std::string& group : kGroups) add_group(all, results, grid, group);
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements)
      add_curvature(all, results, grid, optimizer, placement);
  return all;
}

}  // namespace gradus::lab::optimizers
