// The plan of the study `size`.

#include "lab/studies/size/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/statistics/format.h"
#include "lab/studies/best/best.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab {

namespace sizes {

namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kHeadWidth = 8;  // wider models have more heads

Measured measure(const Grid& grid, const Arm& arm, double lr, std::uint64_t seed) {
  TrialOptions options{.placement = nn::placement_named(arm.placement),
                       .layers = arm.size.layers,
                       .block = {.d_model = arm.size.width,
                                 .heads = arm.size.width / kHeadWidth,
                                 .qk_norm = arm.variant == "qk"},
                       .lr = lr,
                       .warmup = arm.variant == "cold" ? 0 : grid.warmup,
                       .steps = grid.steps,
                       .batch = kBatch,
                       .seed = seed};
  if (arm.variant == "z") options.objective = z_loss();
  nn::GPT model = new_model(best::task(), options, [&](const nn::GPT& gpt, std::uint64_t weights) {
    Generator generator(weights, 0);
    set_weights(gpt, "fan_in_scaled", arm.size.layers, generator);
  });
  const TrialResult result = train(best::task(), model, options);
  return {.numbers = {{"loss", result.final_loss},
                      {"start", result.start_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0}},
          .series = {{"losses", slice_means(result.losses, 12)}}};
}

/// Measured at width 32: 3.2e-4 s a block and step of 128 characters. A step of a model of 64, 128 and 256
/// channels takes 2.7, 8.8 and 31 times as long as one of 32 (docs/data/performance.json), about width^1.6.
/// In the full form that is 3.9, 12, 36 and 109 s with 6 layers and 7.8 and 16 s with 12 and 24; times the
/// runs of each, 516 with warm-up (3.6 hours), 828 of the other variants (3.7) and 92 of the searches (0.7):
/// 8.0 core-hours. A search that grows or chooses a rate outside the grid has more.
double seconds_of(const Grid& grid, const Size& size) {
  const double wider = std::max(1.0, static_cast<double>(size.width) / 32);
  constexpr std::int64_t kValidation = 43;  // steps that take as long as the two losses on the validation set
  return 3.2e-4 * std::pow(wider, 1.6) * static_cast<double>(size.layers * (grid.steps + kValidation));
}

/// The largest models last, and of the others those with warm-up first.
std::uint64_t round_of(const Arm& arm) { return arm.size.width > 128 ? 2 : arm.variant == "warm" ? 0 : 1; }

StudyRun run_of(const Grid& grid, const Arm& arm, double lr, std::uint64_t seed, std::string group = {}) {
  return {.name = run_name(arm, lr, seed),
          .seconds = seconds_of(grid, arm.size),
          .round = round_of(arm),
          .measure = [=] { return measure(grid, arm, lr, seed); },
          .group = std::move(group)};
}

/// All runs of an arm that its results so far ask for.
std::vector<StudyRun> asked(const StudyResults& results, const Grid& grid, const Arm& arm,
                            std::size_t& searching) {
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.judging(arm))
    for (const double lr : grid.rates()) runs.push_back(run_of(grid, arm, lr, seed));
  searching = 0;
  if (arm.variant != "warm") return runs;
  const Chosen chosen = chosen_of(results, grid, arm);
  searching = chosen.searched.runs.size();
  for (const Searched::Run& run : chosen.searched.runs)
    runs.push_back(run_of(grid, arm, grid.ladder[run.setting.rate], run.seed, arm.model()));
  const std::vector<double> rates = grid.rates();
  if (chosen.rate && std::find(rates.begin(), rates.end(), *chosen.rate) == rates.end())
    for (const std::uint64_t seed : grid.judging(arm))
      runs.push_back(run_of(grid, arm, *chosen.rate, seed, arm.model()));
  return runs;
}

/// The number of runs of an arm's search if no grid grows.
std::size_t expected_search(const Grid& grid, const Arm& arm) {
  const std::size_t rates = grid.rates().size(), seeds = grid.searching(arm.size).size();
  return arm.variant == "warm" ? rates + (seeds - 1) * std::min(kKept, rates) : 0;
}

Following next(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Following following;
  for (const Arm& arm : grid.arms()) {
    std::size_t searching = 0;
    for (StudyRun& run : asked(results, grid, arm, searching)) following.runs.push_back(std::move(run));
    const std::size_t expected = std::max(expected_search(grid, arm), searching);
    following.seconds_later += static_cast<double>(expected - searching) * seconds_of(grid, arm.size);
  }
  return following;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  for (const SizeSeeds& one : grid.sizes)
    check_apart(grid.searching(one.size), grid.judging({kPlacements[0], one.size}));
  return next({options, {}, 0}).runs;
}

const SizeSeeds& seeds_of(const Grid& grid, const Size& size) {
  return *std::find_if(grid.sizes.begin(), grid.sizes.end(),
                       [&](const SizeSeeds& one) { return one.size == size; });
}

}  // namespace

std::string Size::title() const { return fmt::format("width {}, {}", width, counted(layers, "layer")); }

std::string Arm::model() const {
  return fmt::format("{}-d{}-L{}", placement == kPlacements[0] ? "pre" : "post", size.width, size.layers);
}

std::string Arm::title() const {
  std::string text = placement + ", " + size.title();
  for (const Titled& one : kVariants)
    if (one.name == variant && variant != "warm") text += ", " + one.title;
  return text;
}

std::vector<double> Grid::rates() const {
  return {ladder.begin() + static_cast<std::ptrdiff_t>(first),
          ladder.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

std::vector<std::uint64_t> Grid::judging(const Arm& arm) const {
  const SizeSeeds& seeds = seeds_of(*this, arm.size);
  return seeds_from(judging_from, arm.variant == "warm" ? seeds.judging : seeds.others);
}

std::vector<std::uint64_t> Grid::searching(const Size& size) const {
  return seeds_from(searching_from, seeds_of(*this, size).searching);
}

std::vector<Arm> Grid::arms() const {
  std::vector<Arm> all;
  for (const SizeSeeds& one : sizes)
    for (const Titled& variant : kVariants)
      for (const std::string& placement : kPlacements)
        if (variant.name == "warm" || one.others > 0) all.push_back({placement, one.size, variant.name});
  return all;
}

std::array<Line, 2> Grid::both_lines() const {
  std::array<Line, 2> lines = {Line{"width", {}, {}}, Line{"depth", {}, {}}};
  const Size& base = sizes.front().size;
  for (const SizeSeeds& one : sizes) {
    const auto add = [&](Line& line, std::int64_t x) {
      line.sizes.push_back(one.size), line.x.push_back(static_cast<double>(x));
    };
    if (one.size.layers == base.layers) add(lines[0], one.size.width);
    if (one.size.width == base.width) add(lines[1], one.size.layers);
  }
  return lines;
}

Grid grid_of(const StudyOptions& options) {
  Grid grid{.steps = 2000,
            .warmup = 500,
            .sizes = {{.size = {32, 6}, .judging = 8, .others = 6, .searching = 2},
                      {.size = {64, 6}, .judging = 8, .others = 6, .searching = 2},
                      {.size = {128, 6}, .judging = 6, .others = 5, .searching = 2},
                      {.size = {256, 6}, .judging = 5, .others = 0, .searching = 1},
                      {.size = {32, 12}, .judging = 8, .others = 0, .searching = 2},
                      {.size = {32, 24}, .judging = 8, .others = 6, .searching = 2}},
            .ladder = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
            .first = 2,
            .last = 7,
            .searching_from = options.seed + 110,
            .judging_from = options.seed + 210};
  if (options.budget == Budget::full) return grid;
  if (options.budget == Budget::standard) {
    grid.steps = 400, grid.warmup = 100;
    std::erase_if(grid.sizes, [](const SizeSeeds& one) { return one.size.width == 256; });
    for (SizeSeeds& one : grid.sizes) one.judging = 3, one.others = one.size.width == 32 ? 3 : 0;
    return grid;
  }
  grid.steps = 40, grid.warmup = 10, grid.first = 4, grid.last = 6;
  grid.sizes.clear();
  for (const Size& size : std::vector<Size>{{8, 2}, {16, 2}, {32, 2}, {8, 4}, {8, 8}})
    grid.sizes.push_back({.size = size, .judging = 2, .others = grid.sizes.empty() ? 2 : 0, .searching = 1});
  return grid;
}

std::string run_name(const Arm& arm, double lr, std::uint64_t seed) {
  return fmt::format("{}-{}-lr{}-s{}", arm.model(), arm.variant, lr, seed);
}

}  // namespace sizes

Study size_study() {
  return {
      .name = "size",
      .title = "Width and depth",
      .question =
          "Do Pre-LN and Post-LN differ more, in sensitivity to the rate and in their best loss, the larger "
          "the model is?",
      .setting =
          "GPTs with heads of 8 channels, Pre-LN and Post-LN, on the language of `best` (ten boxes of five "
          "things, a chain of two): 2000 steps of 4 lines, Adam, no clipping, rates 0.0001 to 0.03, half a "
          "decade apart, constant after a linear warm-up of 500 steps. Initial weights N(0, 1/fan_in), "
          "matrices into the stream over sqrt(2L). Seeds at all rates by width x depth: 32 x 6, 64 x 6, "
          "32 x 12 and 32 x 24 eight, 128 x 6 six, 256 x 6 five. Without warm-up, with QK-norm and with "
          "z-loss (weight 0.0001), each alone: 32 x 6, 64 x 6 and 32 x 24 six seeds, 128 x 6 five. For the "
          "best loss, with warm-up: all rates on one other seed, the best two on a second (256 x 6: one "
          "seed), and beyond the rates where the best is the first or last (0.00001 to 0.1). Steps and rates "
          "are the same in all sizes. Readouts: sensitivity, the range of rates within 0.1 nats of the "
          "best, and the loss on the validation set, paired within a seed; slopes over the logarithm of "
          "the size, one for each seed.",
      .scope =
          "recall language with a chain, 2000 steps, N(0, 1/fan_in) over sqrt(2L), one number of size "
          "varied at a time",
      .plan = sizes::plan,
      .figures = sizes::figures,
      .report = sizes::report,
      .next = sizes::next};
}

}  // namespace gradus::lab
