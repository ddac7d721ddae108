// One number per seed for each question about rates, Pre-LN and Post-LN paired within the seed.

#include <fmt/format.h>

#include <cmath>

#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

Search losses_of(const Grid& grid, const Sweep& sweep) {
  return {.rates = grid.lrs, .seeds = grid.seeds, .run = [=](double lr, std::uint64_t seed) {
            return run_name(sweep, lr, seed);
          }};
}

std::vector<Search> losses_of(const Grid& grid, const std::string& placement, std::int64_t layers,
                              const std::vector<std::int64_t>& warmups) {
  std::vector<Search> all;
  for (const std::int64_t warmup : warmups) all.push_back(losses_of(grid, Sweep{placement, layers, warmup}));
  return all;
}

std::vector<double> soonest(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  const Grid grid = grid_of(results.options);
  std::vector<Search> searches = losses_of(grid, placement, layers, grid.warmups);
  for (Search& search : searches) search.number = "steps", search.otherwise = static_cast<double>(grid.steps);
  return best_of(results, searches).values;
}

std::vector<double> largest(const StudyResults& results, const Sweep& sweep) {
  const Grid grid = grid_of(results.options);
  return largest_rate(results, losses_of(grid, sweep), learned_loss(),
                      grid.lrs[0] * grid.lrs[0] / grid.lrs[1]);
}

namespace {

/// Steps to the target loss at each seed's rate; where no rate trains, none reaches the target.
std::vector<double> steps_at(const StudyResults& results, const Sweep& sweep, std::vector<double> rates) {
  const Grid grid = grid_of(results.options);
  for (std::size_t s = 0; s < rates.size(); ++s) {
    if (std::isnan(rates[s])) continue;
    const double steps = results.number(run_name(sweep, rates[s], grid.seeds[s]), "steps");
    rates[s] = std::isnan(steps) ? static_cast<double>(grid.steps) : steps;
  }
  return rates;
}

/// Post-LN's steps over Pre-LN's. Seeds on which neither reaches the target are left out.
std::vector<double> ratio_of_steps(const std::vector<double>& pre, const std::vector<double>& post,
                                   std::int64_t steps) {
  std::vector<double> ratios;
  for (std::size_t s = 0; s < pre.size(); ++s)
    ratios.push_back(std::min(pre[s], post[s]) < static_cast<double>(steps) ? post[s] / pre[s]
                                                                            : kit::nothing);
  return ratios;
}

}  // namespace

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const std::int64_t layers : grid.depths) {
    const auto add = [&](const char* name, const std::vector<double>& values) {
      for (const double value : values) keep(all, fmt::format("{}.L{}", name, layers), value);
    };
    const auto best = [&](std::size_t placement, const std::vector<std::int64_t>& warmups) {
      return best_of(results, losses_of(grid, kPlacements[placement], layers, warmups)).values;
    };
    const auto gain = [&](std::size_t placement) {
      return minus(best(placement, {0}), best(placement, {grid.warmup()}));
    };
    for (const auto& [name, warmup] :
         {std::pair{"sensitivity", std::int64_t{0}}, {"sensitivity-warm", grid.warmup()}})
      add(name, minus(sensitivities(results, losses_of(grid, {kPlacements[1], layers, warmup})),
                      sensitivities(results, losses_of(grid, {kPlacements[0], layers, warmup}))));
    add("needs-warm-up", gain(0));
    add("gain", minus(gain(1), gain(0)));

    const Sweep pre{kPlacements[0], layers, 0}, post{kPlacements[1], layers, 0};
    const std::vector<double> pre_rates = largest(results, pre), post_rates = largest(results, post);
    for (std::size_t s = 0; s < pre_rates.size(); ++s)
      add("largest", {std::log10(pre_rates[s] / post_rates[s])});
    add("steps-at-largest",
        ratio_of_steps(steps_at(results, pre, pre_rates), steps_at(results, post, post_rates), grid.steps));

    const std::vector<double> pre_end = best(0, grid.warmups), post_end = best(1, grid.warmups);
    add("best", minus(post_end, pre_end));
    for (std::size_t s = 0; s < pre_end.size(); ++s)
      if (!std::isnan(pre_end[s])) add("post-above-ngram", {post_end[s] - learned_loss()});
    add("steps", ratio_of_steps(soonest(results, kPlacements[0], layers),
                                soonest(results, kPlacements[1], layers), grid.steps));
  }
  return all;
}

}  // namespace gradus::lab::rates
