// One number a seed for each question about rates, Pre-LN and Post-LN paired within the seed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/studies/left_out.h"
#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

namespace {

/// One seed at one depth, for as much as has finished.
class OfSeed {
 public:
  OfSeed(Figures& figures, const View& view, std::int64_t layers, std::uint64_t seed)
      : figures_(figures), view_(view), layers_(layers), seed_(seed) {}

  void add_all() {
    add_sensitivity("sensitivity", 0);
    add_sensitivity("sensitivity-warm", view_.grid.warmup());
    add_warmup();
    add_largest();
    add_best();
  }

 private:
  void add(const char* name, double value) {
    figures_[fmt::format("{}.L{}", name, layers_)].push_back(value);
  }
  Sweep sweep(std::size_t placement, std::int64_t warmup) const {
    return {kPlacements[placement], layers_, warmup};
  }

  void add_sensitivity(const char* name, std::int64_t warmup) {
    const View::Numbers pre = view_.losses(sweep(0, warmup), seed_);
    const View::Numbers post = view_.losses(sweep(1, warmup), seed_);
    if (pre && post) add(name, sensitivity_of(*post) - sensitivity_of(*pre));
  }

  void add_warmup() {
    const std::optional<double> pre = view_.gain(kPlacements[0], layers_, seed_);
    const std::optional<double> post = view_.gain(kPlacements[1], layers_, seed_);
    if (pre) add("needs-warm-up", *pre);
    if (pre && post) add("gain", *post - *pre);
  }

  void add_largest() {
    const auto pre = view_.largest(sweep(0, 0), seed_), post = view_.largest(sweep(1, 0), seed_);
    if (!pre || !post) return;
    add("largest", std::log10(pre->first / post->first));
    add_steps("steps-at-largest", pre->second, post->second);
  }

  /// Where neither reaches the target there is nothing to compare.
  void add_steps(const char* name, double pre, double post) {
    const auto all = static_cast<double>(view_.grid.steps);
    if (pre < all || post < all) add(name, post / pre);
  }

  void add_best() {
    const auto pre = view_.best(kPlacements[0], layers_, seed_),
               post = view_.best(kPlacements[1], layers_, seed_);
    if (!pre || !post) return;
    add("best", post->value - pre->value);
    add("post-above-ngram", post->value - learned_loss());
    add_steps("steps", view_.soonest(kPlacements[0], layers_, seed_)->value,
              view_.soonest(kPlacements[1], layers_, seed_)->value);
  }

  Figures& figures_;
  const View& view_;
  const std::int64_t layers_;
  const std::uint64_t seed_;
};

}  // namespace

Figures figures(const StudyResults& results) {
  const View view(results);
  Figures all;
  for (const std::uint64_t seed : view.grid.seeds)
    for (const std::int64_t layers : view.grid.depths) OfSeed(all, view, layers, seed).add_all();
  return all;
}

namespace {

View::Numbers of_rates(const View& view, const Sweep& sweep, std::uint64_t seed, const char* number) {
  std::vector<std::string> names;
  for (const double lr : view.grid.lrs) names.push_back(run_name(sweep, lr, seed));
  return numbers_of(view.results, names, number);
}

}  // namespace

View::Numbers View::losses(const Sweep& sweep, std::uint64_t seed) const {
  return of_rates(*this, sweep, seed, "loss");
}

View::Numbers View::steps(const Sweep& sweep, std::uint64_t seed) const {
  Numbers steps = of_rates(*this, sweep, seed, "steps");
  if (steps)
    for (double& one : *steps)
      if (std::isnan(one)) one = static_cast<double>(grid.steps);
  return steps;
}

std::optional<Best> View::chosen(const std::string& placement, std::int64_t layers,
                                 const std::vector<std::int64_t>& warmups, std::uint64_t seed,
                                 Numbers (View::*numbers)(const Sweep&, std::uint64_t) const) const {
  std::vector<Best> settings;
  std::vector<std::vector<double>> values;  // [setting][seed]
  for (const std::int64_t warmup : warmups) {
    const std::size_t first = values.size();
    for (const double lr : grid.lrs) settings.push_back({.lr = lr, .warmup = warmup});
    values.resize(settings.size(), std::vector<double>(grid.seeds.size(), std::nan("")));
    for (std::size_t s = 0; s < grid.seeds.size(); ++s)
      if (const Numbers by_rate = (this->*numbers)({placement, layers, warmup}, grid.seeds[s]))
        for (std::size_t i = 0; i < by_rate->size(); ++i) values[first + i][s] = (*by_rate)[i];
  }
  const auto place =
      static_cast<std::size_t>(std::find(grid.seeds.begin(), grid.seeds.end(), seed) - grid.seeds.begin());
  const std::optional<std::size_t> setting = best_of_others(values).at(place);
  if (!setting) return std::nullopt;
  Best best = settings[*setting];
  best.value = values[*setting][place];
  return best;
}

std::optional<Best> View::best(const std::string& placement, std::int64_t layers,
                               const std::vector<std::int64_t>& warmups, std::uint64_t seed) const {
  return chosen(placement, layers, warmups, seed, &View::losses);
}

std::optional<Best> View::best(const std::string& placement, std::int64_t layers, std::uint64_t seed) const {
  return best(placement, layers, grid.warmups, seed);
}

std::optional<Best> View::soonest(const std::string& placement, std::int64_t layers,
                                  std::uint64_t seed) const {
  return chosen(placement, layers, grid.warmups, seed, &View::steps);
}

std::optional<std::pair<double, double>> View::largest(const Sweep& sweep, std::uint64_t seed) const {
  const Numbers loss = losses(sweep, seed), step = steps(sweep, seed);
  if (!loss) return std::nullopt;
  const double rate = largest_rate(grid.lrs, *loss);
  const auto place = std::find(grid.lrs.begin(), grid.lrs.end(), rate);
  // Where none trains, none of them reached the target either.
  return std::pair(rate, place == grid.lrs.end()
                             ? static_cast<double>(grid.steps)
                             : (*step)[static_cast<std::size_t>(place - grid.lrs.begin())]);
}

std::optional<double> View::gain(const std::string& placement, std::int64_t layers,
                                 std::uint64_t seed) const {
  const auto without = best(placement, layers, {0}, seed),
             with = best(placement, layers, {grid.warmup()}, seed);
  if (!without || !with) return std::nullopt;
  return without->value - with->value;
}

}  // namespace gradus::lab::rates
