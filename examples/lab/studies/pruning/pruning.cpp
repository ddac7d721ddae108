// Do deep layers contribute? Layers are dropped and swapped after training.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/studies/best_rate.h"
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

double rate_of(const StudyResults& results, const std::string& placement) {
  const Grid grid = grid_of(results.options);
  return best_rate(grid.rates, grid.seeds, [&](double rate, std::uint64_t seed) {
    return results.number(run_name(placement, rate, seed), "loss");
  });
}

std::string learned_run(const StudyResults& results, const std::string& placement, std::uint64_t seed) {
  const double rate = rate_of(results, placement);
  if (!std::isfinite(rate)) return {};
  const std::string run = run_name(placement, rate, seed);
  return results.has(run) && results.number(run, "learned") > 0 ? run : std::string();
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

/// Appended where it is a number: a model no layer of which matters has no share.
void keep(std::vector<double>& values, double value) {
  if (std::isfinite(value)) values.push_back(value);
}

Figures pruning_figures(const StudyResults& results) {
  Figures all;
  for (const std::uint64_t seed : grid_of(results.options).seeds) {
    const std::string pre = learned_run(results, "Pre-LN", seed);
    const std::string post = learned_run(results, "Post-LN", seed);
    const std::string scaled = learned_run(results, "LN scaling", seed);
    if (pre.empty()) continue;
    const double share = results.number(pre, "drop-share");
    keep(all["share.pre"], share);
    keep(all["swap.pre"], results.number(pre, "swap-share"));
    keep(all["cosine.pre"], results.number(pre, "cosine-deep"));
    if (!post.empty()) keep(all["against-post"], share - results.number(post, "drop-share"));
    if (!scaled.empty()) keep(all["against-scaling"], share - results.number(scaled, "drop-share"));
  }
  return all;
}

}  // namespace

}  // namespace pruning

Study pruning_study() {
  return {.name = "pruning",
          .title = "Layers that can go",
          .question = "Do the deep layers of a Pre-LN model contribute little?",
          .plan = pruning::pruning_plan,
          .figures = pruning::pruning_figures,
          .report = pruning::report};
}

}  // namespace gradus::lab
