// The plan of the study `depth-48`, the choice of a design, and its figures for the ledger.

#include "lab/studies/depth_48/depth_48.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab {

namespace depth_48 {

namespace {

constexpr std::int64_t kBatch = 8;

Measured measure(const Grid& grid, std::size_t placement, const Design& design, std::uint64_t seed) {
  const TrialOptions options{.placement = nn::placement_named(kPlacements[placement]),
                             .layers = grid.layers,
                             .lr = design.lr,
                             .warmup = design.warmup,
                             .steps = grid.steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(recall_task(), options);
  return outcome_of(train(recall_task(), model, options), 22);
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
      for (const Design& design : grid.designs())
        runs.push_back({.name = run_name(placement, design, seed),
                        .seconds = 7e-4 * static_cast<double>(grid.layers * grid.steps),
                        .measure = [=] { return measure(grid, placement, design, seed); }});
  return runs;
}

/// [design][seed] in the order of designs(); NaN where a run has not finished.
std::vector<std::vector<double>> losses_of(const StudyResults& results, std::size_t placement) {
  const Grid grid = grid_of(results.options);
  std::vector<std::vector<double>> losses;
  for (const std::int64_t warmup : grid.warmups)
    for (std::vector<double>& row : by_rate(results, grid.search(placement, warmup)))
      losses.push_back(std::move(row));
  return losses;
}

}  // namespace

std::vector<Design> Grid::designs() const {
  std::vector<Design> all;
  for (const std::int64_t warmup : warmups)
    for (const double lr : lrs) all.push_back({warmup, lr});
  return all;
}

Search Grid::search(std::size_t placement, std::int64_t warmup) const {
  return {.rates = lrs, .seeds = seeds, .run = [=](double lr, std::uint64_t seed) {
            return run_name(placement, {warmup, lr}, seed);
          }};
}

Grid grid_of(const StudyOptions& options) {
  // Quick is a search at 8 layers: it shows how the study works and measures nothing for the ledger.
  if (options.budget == Budget::quick)
    return {.layers = 8,
            .steps = 200,
            .warmups = {0, 40},
            .lrs = {1e-3, 3e-3},
            .seeds = seeds_from(options.seed, 3)};
  const bool full = options.budget == Budget::full;
  // Nine designs and eight seeds: with six measures an interval of five seeds reaches two standard deviations
  // to either side, one of eight 1.3.
  return {.steps = 400,
          .warmups = {0, 40, 160},
          .lrs = {3e-4, 1e-3, 3e-3},
          .seeds = seeds_from(options.seed, full ? 8 : 3)};
}

std::string run_name(std::size_t placement, const Design& design, std::uint64_t seed) {
  return fmt::format("{}-w{}-lr{}-s{}", kWords[placement], design.warmup, design.lr, seed);
}

Found chosen(const StudyResults& results, std::size_t placement, Among among) {
  const Grid grid = grid_of(results.options);
  std::vector<Search> searches;
  for (const std::int64_t warmup : grid.warmups)
    if (among == Among::all || (warmup == 0) == (among == Among::cold))
      searches.push_back(grid.search(placement, warmup));
  return best_of(results, searches);
}

std::vector<std::optional<Design>> own_best(const StudyResults& results, std::size_t placement) {
  const std::vector<Design> designs = grid_of(results.options).designs();
  const std::vector<std::vector<double>> losses = losses_of(results, placement);
  std::vector<std::optional<Design>> best;
  for (std::size_t seed = 0; seed < losses.front().size(); ++seed) {
    std::vector<double> of_seed;
    for (const std::vector<double>& row : losses) of_seed.push_back(row[seed]);
    const auto least = std::min_element(of_seed.begin(), of_seed.end());
    const bool counts = finite(of_seed).size() == of_seed.size() && *least < learned_loss();
    best.push_back(counts ? std::optional(designs[static_cast<std::size_t>(least - of_seed.begin())])
                          : std::nullopt);
  }
  return best;
}

std::optional<Design> answer(const StudyResults& results, std::size_t placement) {
  std::vector<double> means;
  for (const std::vector<double>& row : losses_of(results, placement)) means.push_back(mean(row));
  if (finite(means).size() < means.size()) return std::nullopt;
  const auto least = std::min_element(means.begin(), means.end());
  return grid_of(results.options).designs()[static_cast<std::size_t>(least - means.begin())];
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  if (results.options.budget == Budget::quick) return all;
  for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
    const std::string gain = "gain." + kWords[placement];
    all[gain] = paired_difference(chosen(results, placement, Among::cold).values,
                                  chosen(results, placement, Among::warm).values);
    const std::vector<double> losses = finite(chosen(results, placement, Among::all).values);
    for (const double loss : losses) all["above-ngram." + kWords[placement]].push_back(loss - learned_loss());
    for (const std::string& id : {gain, std::string("longer"), std::string("lower-rate")})
      all.object(id, trains_nowhere(losses, learned_loss(),
                                    fmt::format("{}, {} layers", kPlacements[placement], grid.layers)));
  }
  const auto pre = own_best(results, 0), post = own_best(results, 1);
  for (std::size_t seed = 0; seed < pre.size(); ++seed) {
    if (!pre[seed] || !post[seed]) continue;
    all["longer"].push_back(static_cast<double>(post[seed]->warmup - pre[seed]->warmup) /
                            static_cast<double>(grid.steps));
    all["lower-rate"].push_back(std::log10(pre[seed]->lr / post[seed]->lr));
  }
  return all;
}

}  // namespace depth_48

Study depth_48_study() {
  return {.name = "depth-48",
          .title = "A warm-up for 48 layers",
          .question = "How should a warm-up for 48 layers be designed for each placement?",
          .setting =
              "GPTs of 48 blocks and width 32, Pre-LN and Post-LN with the same matrices at the start, N(0, "
              "1/fan_in), on the recall language: 400 steps of 8 lines, Adam, no clipping; nine designs, no "
              "warm-up or 40 or 160 steps of a linear one, to a constant rate of 0.0003, 0.001 or 0.003; 8 "
              "seeds. Readout: the loss on the validation set (nats per character), paired within a seed, "
              "which is judged at the design that is best on the other seeds; the best design of a seed "
              "alone where designs are compared.",
          .scope = "recall language, width 32, 400 steps, N(0, 1/fan_in)",
          .plan = depth_48::plan,
          .figures = depth_48::figures,
          .report = depth_48::report};
}

}  // namespace gradus::lab
