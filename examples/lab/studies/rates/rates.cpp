// The plan of the study `rates`, and its figures for the ledger.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/statistics/format.h"
#include "lab/studies/rates/rates.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab {

namespace rates {

namespace {

constexpr std::int64_t kBatch = 8;

Measured measure(const Sweep& sweep, double lr, std::int64_t steps, std::uint64_t seed) {
  const TrialOptions options{.placement = nn::placement_named(sweep.placement),
                             .layers = sweep.layers,
                             .lr = lr,
                             .warmup = sweep.warmup,
                             .steps = steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(recall_task(), options);
  return outcome_of(train(recall_task(), model, options), kSlices);
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::int64_t layers : grid.depths)
      for (const std::int64_t warmup : grid.warmups)
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

Grid grid_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.steps = 200,
            .depths = {2, 6},
            .lrs = {1e-3, 3e-3, 1e-2},
            .warmups = {0, 50},
            .seeds = seeds_from(options.seed, 3)};
  // Four depths and ten seeds rather than six and six: with eight measures to a claim an interval of six
  // seeds reaches two standard deviations to either side, one of ten seeds 1.1. 48 layers have a separate
  // study. At 0.0003 no run gets below n-grams in so few steps.
  return {.steps = 380,
          .depths = {2, 6, 12, 24},
          .lrs = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
          .warmups = {0, 95},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 10 : 3)};
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
          .setting =
              "GPTs of 2, 6, 12 and 24 blocks and width 32, Pre-LN and Post-LN with the same matrices at the "
              "start, N(0, 1/fan_in), on the recall language: 380 steps of 8 lines, Adam, no clipping; rates "
              "0.001 to 0.1, half a decade apart, constant from the first step on or after 95 steps of "
              "linear warm-up; 10 seeds. Readout: the loss on the validation set (nats per character), "
              "paired within a seed, whose rate and warm-up are those that are best on the other seeds.",
          .scope = "recall language, width 32, 380 steps, N(0, 1/fan_in)",
          .plan = rates::plan,
          .figures = rates::figures,
          .report = rates::report};
}

}  // namespace gradus::lab
