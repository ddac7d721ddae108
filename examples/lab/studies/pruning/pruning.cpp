// Do deep layers contribute? Layers are dropped and swapped after training.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/studies/pruning/parts.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace pruning {

Grid grid_of(const StudyOptions& options) {
  switch (options.budget) {
    case Budget::quick:
      // In so few steps twelve layers of Post-LN do not learn.
      return {.placements = {"Pre-LN", "LN scaling"},
              .rates = {3e-3},
              .seeds = seeds_from(options.seed, 3),
              .steps = 150,
              .warmup = 50};
    case Budget::standard:
      return {.rates = {1e-3, 3e-3}, .seeds = seeds_from(options.seed, 6), .steps = 400, .warmup = 100};
    case Budget::full:
      break;
  }
  return {.rates = {1e-3, 3e-3, 6e-3}, .seeds = seeds_from(options.seed, 10), .steps = 400, .warmup = 100};
}

std::string run_name(const std::string& placement, double rate, std::uint64_t seed) {
  const std::string word = placement == "Pre-LN" ? "pre" : placement == "Post-LN" ? "post" : "scaled";
  return fmt::format("{}-lr{}-s{}", word, rate, seed);
}

Search Grid::search(const std::string& placement) const {
  return {.rates = rates, .seeds = seeds, .run = [placement](double rate, std::uint64_t seed) {
            return run_name(placement, rate, seed);
          }};
}

std::vector<std::string> learned_runs(const StudyResults& results, const std::string& placement) {
  std::vector<std::string> runs = best_of(results, grid_of(results.options).search(placement)).runs;
  for (std::string& run : runs)
    if (!(results.number(run, "learned") > 0)) run.clear();
  return runs;
}

namespace {

std::vector<StudyRun> pruning_plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const double seconds = 0.0014 * static_cast<double>(grid.layers * grid.steps) + 2;
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::string& placement : grid.placements)
      for (const double rate : grid.rates)
        runs.push_back({.name = run_name(placement, rate, seed), .seconds = seconds, .measure = [=] {
                          return measure(placement, rate, seed, grid);
                        }});
  return runs;
}

Figures pruning_figures(const StudyResults& results) {
  Figures all;
  // A model in which no layer matters has no share.
  const auto numbers = [&](const char* placement, const char* number) {
    std::vector<double> values;
    for (const std::string& run : learned_runs(results, placement))
      values.push_back(results.number(run, number));
    return values;
  };
  const std::vector<double> share = numbers("Pre-LN", "drop-share");
  all["share.pre"] = finite(share);
  all["swap.pre"] = finite(numbers("Pre-LN", "swap-share"));
  all["cosine.pre"] = finite(numbers("Pre-LN", "cosine-deep"));
  all["against-post"] = paired_difference(share, numbers("Post-LN", "drop-share"));
  all["against-scaling"] = paired_difference(share, numbers("LN scaling", "drop-share"));
  return all;
}

}  // namespace

}  // namespace pruning

Study pruning_study() {
  return {.name = "pruning",
          .title = "Layers that can go",
          .question = "Do the deep layers of a Pre-LN model contribute little?",
          .setting =
              "GPTs of 12 blocks, 32 channels and 4 heads on the recall language, 400 steps of 16 documents, "
              "Adam, warm-up over 100 steps, rates 0.001, 0.003 and 0.006 for all; 10 seeds. A seed's rate "
              "is the best on the other seeds; it counts if its model ended below the best n-gram. Layers "
              "are dropped, or swapped, one at a time in the trained model, and losses are on the validation "
              "set; placements are compared within a seed.",
          .scope = "recall language, width 32, 12 blocks, 400 steps, N(0, 1/fan_in)",
          .plan = pruning::pruning_plan,
          .figures = pruning::pruning_figures,
          .report = pruning::report};
}

}  // namespace gradus::lab
