// The plan of the study `statements`: a search of each arm's rate, and the runs that judge.

#include "lab/studies/statements/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "lab/statistics/format.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab {

namespace statements {

namespace {

constexpr std::int64_t kBatch = 4;
constexpr const char* kScheme = "fan_in_scaled";
constexpr std::uint64_t kSearching = 160, kJudging = 520;

Measured measure(const Arm& arm, Early early, double rate, std::int64_t steps, std::uint64_t seed) {
  TrialOptions options{.placement = placement_of(arm.block),
                       .layers = arm.layers,
                       .lr = rate,
                       .steps = steps,
                       .batch = kBatch,
                       .seed = seed};
  options.schedule = [=](double peak) { return schedule_of(early, peak, steps); };
  nn::GPT model = new_model(task(arm.chain), options, [&](const nn::GPT& gpt, std::uint64_t weights) {
    Generator generator(weights, 0);
    set_weights(gpt, kScheme, arm.layers, generator);
  });
  const TrialResult result = train(task(arm.chain), model, options);
  const std::size_t tenth = std::min(result.losses.size(), static_cast<std::size_t>(steps / 10));
  const std::span<const double> first(result.losses.data(), tenth);
  return {.numbers = {{"loss", result.final_loss},
                      {"start", result.start_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0},
                      {"early", mean(first)},
                      {"spike", largest_rise(first)}},
          .series = {{"losses", slice_means(result.losses, 30)}}};
}

/// Steps of 4 lines, and the validation set twice.
double seconds_of(const Grid& grid, const Arm& arm) {
  return static_cast<double>(arm.layers) * (3.2e-4 * static_cast<double>(grid.steps) + 0.015);
}

StudyRun run_of(const Grid& grid, const Arm& arm, Early early, double rate, std::uint64_t seed,
                std::uint64_t round) {
  return {.name = run_name(arm, early, rate, seed),
          .seconds = seconds_of(grid, arm),
          .round = round,
          .measure = [=, steps = grid.steps] { return measure(arm, early, rate, steps, seed); },
          .group = arm.name()};
}

/// The number of runs of an arm, if its grid does not grow.
double expected_runs(const Grid& grid, const Arm& arm) {
  std::size_t runs = runs_without_growth(grid.last - grid.first + 1, grid.searching.size(), grid.kept);
  for (const Early early : kEarly) runs += grid.seeds_of(arm, early).size();
  return static_cast<double>(runs);
}

std::vector<StudyRun> asked(const Grid& grid, const Found& found) {
  const Arm& arm = found.arm();
  std::vector<StudyRun> runs;
  for (const Searched::Run& run : found.searched().runs)
    runs.push_back(run_of(grid, arm, Early::warm_up, grid.ladder[run.setting.rate], run.seed, 0));
  if (!found.rate()) return runs;
  for (const Early early : kEarly)
    for (const std::uint64_t seed : grid.seeds_of(arm, early))
      runs.push_back(run_of(grid, arm, early, *found.rate(), seed, early == Early::warm_up ? 1 : 2));
  return runs;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const StudyResults nothing{options, {}, 0};
  std::vector<StudyRun> runs;
  for (const Arm& arm : grid.arms()) {
    for (const Early early : kEarly) check_apart(grid.searching, grid.seeds_of(arm, early));
    for (StudyRun& run : asked(grid, Found(nothing, grid, arm))) runs.push_back(std::move(run));
  }
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

std::string Arm::name() const { return fmt::format("{}-L{}-c{}", block, layers, chain); }

std::string Arm::title() const {
  const auto known =
      std::find_if(kBlocks.begin(), kBlocks.end(), [&](const Titled& one) { return one.name == block; });
  return fmt::format("{}, {}, chain of {}", known == kBlocks.end() ? block : known->title,
                     counted(layers, "layer"), chain);
}

std::vector<Arm> Grid::arms() const {
  std::vector<Arm> all;
  for (const std::int64_t layers : depths)
    for (const std::int64_t chain : kChains)
      for (const Titled& block : kBlocks)
        if (chain == kHardest || block.name == "pre" || block.name == "post")
          all.push_back({block.name, layers, chain});
  return all;
}

std::vector<std::uint64_t> Grid::seeds_of(const Arm& arm, Early early) const {
  if (early == Early::warm_up) return seeds_from(judging_from, judging);
  if (arm.chain != kHardest || (arm.block != "pre" && arm.block != "post")) return {};
  if (arm.layers == depths.front()) return seeds_from(judging_from, early == Early::small ? few : many);
  if (arm.layers == depths.back() && early == Early::level) return seeds_from(judging_from, deep);
  return {};
}

Grid grid_of(const StudyOptions& options) {
  Grid grid{.steps = 1600,
            .depths = {6, 12},
            .ladder = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
            .first = 3,
            .last = 7,
            .kept = {3, 2},
            .searching = seeds_from(options.seed + kSearching, 3),
            .judging_from = options.seed + kJudging,
            .judging = 10,
            .few = 16,
            .many = 160,
            .deep = 160,
            .group = 8};
  if (options.budget == Budget::full) return grid;
  grid.judging = 5, grid.few = 5;
  if (options.budget == Budget::standard) {
    grid.steps = 600, grid.depths = {6}, grid.searching = seeds_from(options.seed + kSearching, 2);
    grid.kept = {2}, grid.many = 40;
  } else {
    grid.steps = 60, grid.depths = {2}, grid.searching = seeds_from(options.seed + kSearching, 1);
    grid.ladder = {1e-3, 3e-3}, grid.first = 0, grid.last = 1;
    grid.judging = 2, grid.few = 2, grid.many = 5, grid.group = 5;
  }
  return grid;
}

std::string run_name(const Arm& arm, Early early, double rate, std::uint64_t seed) {
  return fmt::format("{}-{}-lr{}-s{}", arm.name(), name_of(early), rate, seed);
}

}  // namespace statements

Study statements_study() {
  return {
      .name = "statements",
      .title = "Four statements of teaching texts",
      .question =
          "Does a norm help most before the nonlinearity, does its place matter more on harder tasks, "
          "and do early stability or large early steps lead to a better end?",
      .setting =
          "GPTs of 6 and 12 blocks and width 32 on the recall language with ten boxes of five things and a "
          "chain of 0, 1 or 2: 1600 steps of 4 lines, Adam, no clipping; initial weights N(0, 1/fan_in), "
          "matrices into the stream over sqrt(2L). The rate rises to r in the first quarter and falls to 0 "
          "along half a cosine. For each block, depth and chain r is searched from 0.0003 to 0.03, half a "
          "decade apart, and beyond where the best is the first or last: all rates on one seed, the best 3 "
          "on "
          "a second, 2 on a third; ten other seeds judge. With a chain of 2 also a constant rate of r/10, r "
          "or 3r in the first quarter, and the same afterwards: 16 seeds with r/10 and 160 with r and 3r for "
          "6 blocks, 160 with r for 12. Readout: the loss on the validation set (nats per character), paired "
          "within a seed.",
      .scope = "recall language of ten boxes, width 32, 1600 steps, N(0, 1/fan_in) over sqrt(2L)",
      .plan = statements::plan,
      .figures = statements::figures,
      .report = statements::report,
      .next = statements::next};
}

}  // namespace gradus::lab
