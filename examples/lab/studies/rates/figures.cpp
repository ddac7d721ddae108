// One number per seed for each question about rates, Pre-LN and Post-LN paired within the seed.

#include <fmt/format.h>

#include <cmath>

#include "lab/claims/referee.h"
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

Steps soonest(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  const Grid grid = grid_of(results.options);
  std::vector<Search> searches = losses_of(grid, placement, layers, grid.warmups);
  for (Search& search : searches) search.number = "steps", search.otherwise = static_cast<double>(grid.steps);
  Steps steps;
  for (const std::string& run : best_of(results, searches).runs)
    steps.push_back(run.empty() ? std::nullopt : std::optional(results.number(run, "steps")));
  return steps;
}

std::vector<double> largest(const StudyResults& results, const Sweep& sweep) {
  const Grid grid = grid_of(results.options);
  return largest_rate(results, losses_of(grid, sweep), learned_loss(),
                      grid.lrs[0] * grid.lrs[0] / grid.lrs[1]);
}

namespace {

/// Steps to the target loss at each seed's rate; where no rate trains, none reaches the target.
Steps steps_at(const StudyResults& results, const Sweep& sweep, const std::vector<double>& rates) {
  const Grid grid = grid_of(results.options);
  Steps steps;
  for (std::size_t s = 0; s < rates.size(); ++s)
    steps.push_back(std::isnan(rates[s])
                        ? std::nullopt
                        : std::optional(results.number(run_name(sweep, rates[s], grid.seeds[s]), "steps")));
  return steps;
}

/// The figures of both placements at one depth, and the referee's objections.
class Depth {
 public:
  Depth(Figures& all, const StudyResults& results, std::int64_t layers)
      : all_(all), results_(results), grid_(grid_of(results.options)), layers_(layers) {}

  void add_all() {
    add_sensitivity("sensitivity", 0);
    add_sensitivity("sensitivity-warm", grid_.warmup());
    add_best();
    add_largest();
    add_steps("steps", soonest(results_, kPlacements[0], layers_),
              soonest(results_, kPlacements[1], layers_));
  }

 private:
  std::string id(const char* name) const { return fmt::format("{}.L{}", name, layers_); }
  std::string arm(std::size_t placement) const {
    return fmt::format("{}, {}", kPlacements[placement], label_of(layers_));
  }
  Sweep sweep(std::size_t placement, std::int64_t warmup) const {
    return {kPlacements[placement], layers_, warmup};
  }
  std::vector<double> best(std::size_t placement, const std::vector<std::int64_t>& warmups) const {
    return best_of(results_, losses_of(grid_, kPlacements[placement], layers_, warmups)).values;
  }

  void add(const char* name, const std::vector<double>& values) {
    for (const double value : values) keep(all_, id(name), value);
  }
  void expect_training(const char* name, std::size_t placement, const std::vector<double>& losses) {
    if (all_.contains(id(name)))
      all_.object(id(name), trains_nowhere(finite(losses), learned_loss(), arm(placement)));
  }

  void add_sensitivity(const char* name, std::int64_t warmup) {
    const Search pre = losses_of(grid_, sweep(0, warmup)), post = losses_of(grid_, sweep(1, warmup));
    add(name, minus(sensitivities(results_, post), sensitivities(results_, pre)));
    expect_training(name, 0, of_all_rates(results_, pre, "loss"));
    expect_training(name, 1, of_all_rates(results_, post, "loss"));
  }

  void add_best() {
    const std::vector<double> pre = best(0, grid_.warmups), post = best(1, grid_.warmups);
    add("best", minus(post, pre));
    add("post-above-ngram", minus(post, std::vector<double>(post.size(), learned_loss())));
    const auto gain = [&](std::size_t placement) {
      return minus(best(placement, {0}), best(placement, {grid_.warmup()}));
    };
    add("needs-warm-up", gain(0));
    add("gain", minus(gain(1), gain(0)));
    for (const char* name : {"best", "needs-warm-up", "gain"}) expect_training(name, 0, pre);
    for (const char* name : {"best", "gain"}) expect_training(name, 1, post);
  }

  void add_largest() {
    const std::vector<double> pre = largest(results_, sweep(0, 0)), post = largest(results_, sweep(1, 0));
    for (std::size_t s = 0; s < pre.size(); ++s) add("largest", {std::log10(pre[s] / post[s])});
    for (const std::size_t placement : {0, 1})
      expect_training("largest", placement,
                      of_all_rates(results_, losses_of(grid_, sweep(placement, 0)), "loss"));
    add_steps("steps-at-largest", steps_at(results_, sweep(0, 0), pre),
              steps_at(results_, sweep(1, 0), post));
  }

  /// Post-LN's steps over Pre-LN's: a seed has no ratio where one does not reach the target.
  void add_steps(const char* name, const Steps& pre, const Steps& post) {
    std::vector<double> finished_pre, finished_post;
    for (std::size_t s = 0; s < pre.size(); ++s) {
      if (!pre[s] || !post[s]) continue;
      finished_pre.push_back(*pre[s]), finished_post.push_back(*post[s]);
      add(name, {*post[s] / *pre[s]});
    }
    const auto pre_misses = not_reached(finished_pre, arm(0)),
               post_misses = not_reached(finished_post, arm(1));
    // An arm that never reaches the target says more than one that does so on some seeds.
    const bool post_first = post_misses && post_misses->judgement == Judgement::not_measured;
    all_.object(id(name), post_first ? post_misses : pre_misses);
    all_.object(id(name), post_misses);
  }

  Figures& all_;
  const StudyResults& results_;
  Grid grid_;
  std::int64_t layers_;
};

}  // namespace

Figures figures(const StudyResults& results) {
  Figures all;
  for (const std::int64_t layers : grid_of(results.options).depths) Depth(all, results, layers).add_all();
  return all;
}

}  // namespace gradus::lab::rates
