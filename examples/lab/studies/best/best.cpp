// The plan of the study `best`: a search for each arm, and the runs that judge its choice.

#include "lab/studies/best/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab {

namespace best {

namespace {

constexpr std::int64_t kBatch = 4;
// The searching and judging seeds occur in no other study: those of others are first, first + 1, ...
constexpr std::uint64_t kSearching = 100, kJudging = 200;

Measured measure(const Grid& grid, const Arm& arm, const Design& design, std::uint64_t seed) {
  const TrialOptions options{.placement = nn::placement_named(kPlacements[arm.placement]),
                             .layers = arm.layers,
                             .lr = design.lr,
                             .warmup = design.warmup,
                             .steps = grid.steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(task(), options, [&](const nn::GPT& gpt, std::uint64_t weights) {
    Generator generator(weights, 0);
    set_weights(gpt, design.scheme, arm.layers, generator);
  });
  const TrialResult result = train(task(), model, options);
  return {.numbers = {{"loss", result.final_loss},
                      {"start", result.start_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0},
                      {"steps", steps_to(result.losses, target_loss())}},
          .series = {{"losses", slice_means(result.losses, 30)}}};
}

double seconds_of(const Grid& grid, const Arm& arm) {
  return 2.5e-4 * static_cast<double>(grid.steps * arm.layers);
}

StudyRun run_of(const Grid& grid, const Arm& arm, const Design& design, std::uint64_t seed,
                std::uint64_t round) {
  return {.name = run_name(arm, design, seed),
          .seconds = seconds_of(grid, arm),
          .round = round,
          .measure = [=] { return measure(grid, arm, design, seed); },
          .group = arm.name()};
}

/// The order of runs: the deepest models last, and among the others the searches first.
std::uint64_t round_of(const Arm& arm, bool judges) {
  return (arm.layers > 24 ? 2U : 0U) + (judges ? 1U : 0U);
}

/// The number of runs of an arm's search and judging, if no grid grows and all judged settings differ.
double expected_runs(const Grid& grid, const Arm& arm) {
  const std::size_t rates = grid.last - grid.first + 1;
  const std::size_t search =
      runs_without_growth(grid.schemes.size() * rates, grid.searching.size(), grid.kept);
  const std::size_t judged = arm.layers > grid.deepest_sweep ? 2 : rates + 1;
  return static_cast<double>(2 * search + judged * grid.judging.size());
}

std::vector<StudyRun> asked(const Grid& grid, const Found& found) {
  std::vector<StudyRun> runs;
  for (std::size_t warmup = 0; warmup < grid.warmups.size(); ++warmup)
    for (const Searched::Run& run : found.searched(warmup).runs)
      runs.push_back(run_of(grid, found.arm(), found.design(warmup, run.setting), run.seed,
                            round_of(found.arm(), false)));
  for (const Design& design : found.judged())
    for (const std::uint64_t seed : grid.judging)
      runs.push_back(run_of(grid, found.arm(), design, seed, round_of(found.arm(), true)));
  return runs;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  check_apart(grid.searching, grid.judging);
  const StudyResults nothing{options, {}, 0};
  std::vector<StudyRun> runs;
  for (const Arm& arm : grid.arms())
    for (StudyRun& run : asked(grid, Found(nothing, grid, arm))) runs.push_back(std::move(run));
  return runs;
}

Following next(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Following following;
  for (const Arm& arm : grid.arms())
    following.add(asked(grid, Found(results, grid, arm)), expected_runs(grid, arm) * seconds_of(grid, arm));
  return following;
}

}  // namespace

std::string Arm::name() const { return fmt::format("{}-L{}", placement == 0 ? "pre" : "post", layers); }
std::string Arm::title() const { return fmt::format("{}, {} layers", kPlacements[placement], layers); }

std::vector<Arm> Grid::arms() const {
  std::vector<Arm> all;
  for (const std::int64_t layers : depths)
    for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
      all.push_back({placement, layers});
  return all;
}

Grid grid_of(const StudyOptions& options) {
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  Grid grid{.steps = 3000,
            .depths = {2, 6, 12, 24, 48},
            .schemes = {"fan_in", "fan_in_scaled", "tfixup"},  // GPT-2's is the second, without its 0.02
            .warmups = {0, 750},
            .ladder = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
            .first = 2,
            .last = 6,
            .searching = seeds(kSearching, 5),
            .judging = seeds(kJudging, 10),
            .kept = {8, 4, 2, 2}};
  if (options.budget == Budget::full) return grid;
  grid.searching = seeds(kSearching, 2), grid.judging = seeds(kJudging, 5);
  grid.kept = {2};
  if (options.budget == Budget::standard) {
    grid.steps = 800, grid.warmups = {0, 200}, grid.depths = {6, 12};
  } else {
    grid.steps = 150, grid.warmups = {0, 38}, grid.depths = {2, 6};
    grid.schemes = {"fan_in", "tfixup"}, grid.first = 4;
  }
  return grid;
}

std::string run_name(const Arm& arm, const Design& design, std::uint64_t seed) {
  return fmt::format("{}-{}-w{}-lr{}-s{}", arm.name(), design.scheme, design.warmup, design.lr, seed);
}

}  // namespace best

Study best_study() {
  return {
      .name = "best",
      .title = "Each placement at its best",
      .question =
          "How do Pre-LN and Post-LN differ when each has the initial weights, warm-up and rate that are "
          "best for it?",
      .setting =
          "GPTs of 2, 6, 12, 24 and 48 blocks and width 32, Pre-LN and Post-LN, on the recall language with "
          "ten "
          "boxes of five things and a chain of two: 3000 steps of 4 lines, Adam, no clipping. Initial "
          "weights "
          "N(0, 1/fan_in), the same with matrices into the stream over sqrt(2L), T-Fixup's factors; rates "
          "0.0001 to 0.01, half a decade apart, and beyond where the best is the first or last (0.00001 to "
          "0.1); constant, or after a linear warm-up of 750 steps. For each placement, depth and warm-up all "
          "15 "
          "settings on one seed, the best 8 on a second, 4 on a third, 2 on a fourth and a fifth; ten other "
          "seeds judge the best, and all rates at its initial weights and warm-up. Readout: the loss on the "
          "validation set (nats per character), paired within a seed.",
      .scope = "recall language with a chain, width 32, 3000 steps, the best of three initial weights",
      .plan = best::plan,
      .figures = best::figures,
      .report = best::report,
      .next = best::next};
}

}  // namespace gradus::lab
