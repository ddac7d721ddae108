// The plan of the study `rates`, and what the ledger takes from it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/names.h"
#include "lab/studies/rates/rates.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab {

namespace rates {

namespace {

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kDeep = 12;  // the deepest with more warm-ups

Measured measure(const Sweep& sweep, double lr, std::int64_t steps, std::uint64_t seed) {
  const TrialOptions options{.placement = nn::placement_named(sweep.placement),
                             .layers = sweep.layers,
                             .lr = lr,
                             .warmup = sweep.warmup,
                             .steps = steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(recall_task(), options);
  return outcome_of(train(recall_task(), model, options));
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::int64_t layers : grid.depths)
      for (const std::int64_t warmup : grid.warmups_of(layers))
        for (const std::string& placement : kPlacements)
          for (const double lr : grid.lrs) {
            const Sweep sweep{placement, layers, warmup};
            const std::int64_t steps = grid.steps;
            runs.push_back({.name = run_name(sweep, lr, seed),
                            .seconds = 7e-4 * static_cast<double>(layers * steps),
                            .measure = [=] { return measure(sweep, lr, steps, seed); }});
          }
  return runs;
}

}  // namespace

std::vector<std::int64_t> Grid::warmups_of(std::int64_t layers) const {
  std::vector<std::int64_t> all = warmups;
  if (layers <= kDeep) all.insert(all.end(), more_warmups.begin(), more_warmups.end());
  std::sort(all.begin(), all.end());
  return all;
}

Grid grid_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.steps = 200,
            .depths = {2, 6},
            .lrs = {1e-3, 3e-3, 1e-2},
            .warmups = {0, 50},
            .more_warmups = {},
            .seeds = seeds_from(options.seed, 3)};
  const bool full = options.budget == Budget::full;
  return {.steps = 380,
          .depths = {2, 4, 6, 12, 24, 48},
          .lrs = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
          .warmups = {0, 95},
          .more_warmups = full ? std::vector<std::int64_t>{20} : std::vector<std::int64_t>{},
          .seeds = seeds_from(options.seed, full ? 6 : 3)};
}

std::string run_name(const Sweep& sweep, double lr, std::uint64_t seed) {
  return fmt::format("{}-L{}-w{}-lr{}-s{}", sweep.placement == kPlacements[0] ? "pre" : "post", sweep.layers,
                     sweep.warmup, lr, seed);
}

}  // namespace rates

Study rates_study() {
  return {.name = "rates",
          .title = "Learning rate, warm-up and depth",
          .question = "Is Pre-LN easier to train than Post-LN, and from which depth on?",
          .plan = rates::plan,
          .figures = rates::figures,
          .report = rates::report};
}

}  // namespace gradus::lab
