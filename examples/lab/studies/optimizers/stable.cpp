// The search for the largest stable rates, and the runs that judge them.

#include "lab/studies/optimizers/stable.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/nn/placements/placements.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/study/halving.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

// The searching and judging seeds are used by no other runs of the study: those are first, first + 1, ...
constexpr std::uint64_t kSearching = 170, kJudging = 280;
constexpr std::int64_t kBatch = 8;

TrialOptions trial_of(const StableGrid& grid, const StableArm& arm, const StableDesign& design,
                      std::uint64_t seed) {
  return {.placement = nn::placement_named(arm.title),
          .layers = grid.layers,
          .lr = design.lr,
          .warmup = design.warm ? grid.warmup : 0,
          .optimizer = variant_named("momentum").make,
          .steps = grid.steps,
          .batch = kBatch,
          .seed = seed};
}

double training_seconds(const StableGrid& grid) {
  return 0.65e-3 * static_cast<double>(grid.layers * grid.steps);
}

double curve_seconds(const StableGrid& grid) {
  return training_seconds(grid) +
         0.075 * static_cast<double>(grid.layers) * static_cast<double>(grid.curve_steps.size());
}

StudyRun search_run(const StableGrid& grid, const StableArm& arm, const StableDesign& design,
                    std::uint64_t seed) {
  return {.name = search_name(arm, design, seed),
          .seconds = training_seconds(grid),
          .round = 1,
          .measure =
              [=] {
                const TrialOptions options = trial_of(grid, arm, design, seed);
                nn::GPT model = new_model(recall_task(), options);
                return outcome_of(train(recall_task(), model, options), 8);
              },
          .group = "stable-" + arm.word};
}

StudyRun curve_run(const StableGrid& grid, const StableArm& arm, const StableDesign& design,
                   std::uint64_t seed) {
  return {.name = curve_name(arm, design, seed),
          .seconds = curve_seconds(grid),
          .round = 2,
          .measure = [=] { return measure_sharpness(trial_of(grid, arm, design, seed), grid.curve_steps); },
          .group = "stable-" + arm.word};
}

/// Of an arm's climbs, over about six rates each, and its judged designs.
double expected_seconds(const StableGrid& grid, const StableArm& arm) {
  const auto rates = static_cast<double>(std::min<std::size_t>(grid.ladder.size(), 6));
  const auto searching = static_cast<double>(grid.searching.size()),
             judging = static_cast<double>(grid.judging.size());
  return (arm.control ? 1 : 2) * rates * searching * training_seconds(grid) +
         (arm.control ? 1 : 4) * judging * curve_seconds(grid);
}

Climbed climb_of(const StudyResults& results, const StableGrid& grid, const StableArm& arm, bool warm) {
  return climb(grid.ladder.size(), grid.searching,
               [&](std::size_t rate, std::uint64_t seed) -> std::optional<bool> {
                 const std::string run = search_name(arm, {warm, grid.ladder[rate]}, seed);
                 if (!results.has(run)) return std::nullopt;
                 return survives(results.number(run, "loss"));
               });
}

}  // namespace

std::string StableArm::described(bool warm) const {
  return title + (warm ? " with warm-up" : " without warm-up");
}

std::size_t StableGrid::end_of_warmup() const {
  return static_cast<std::size_t>(std::find(curve_steps.begin(), curve_steps.end(), warmup) -
                                  curve_steps.begin());
}

StableGrid stable_grid_of(const StudyOptions& options) {
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  StableGrid grid{.curve_steps = {1, 25, 50, 100, 200, 400},
                  .arms = {{"post", "Post-LN"}, {"deepnorm", "DeepNorm", true}, {"admin", "Admin", true}},
                  .ladder = {0.01, 0.018, 0.03, 0.056, 0.1, 0.18, 0.3, 0.56, 1, 1.8, 3},
                  .searching = seeds(kSearching, per_budget<std::int64_t>(options.budget, 1, 2, 5)),
                  .judging = seeds(kJudging, per_budget<std::int64_t>(options.budget, 1, 3, 10))};
  if (options.budget != Budget::quick) return grid;
  grid.layers = 2, grid.steps = 40, grid.warmup = 10;
  grid.curve_steps = {1, 10, 40};
  grid.arms.resize(1);
  grid.ladder = {0.03, 0.3};
  return grid;
}

bool survives(double loss) {
  static const double without_context = recall_task().context_free_loss();
  return loss < without_context;
}

std::string search_name(const StableArm& arm, const StableDesign& design, std::uint64_t seed) {
  return fmt::format("stable-{}-{}-lr{:g}-s{}", arm.word, design.warm ? "warm" : "cold", design.lr, seed);
}

std::string curve_name(const StableArm& arm, const StableDesign& design, std::uint64_t seed) {
  return fmt::format("stable-curve-{}-{}-lr{:g}-s{}", arm.word, design.warm ? "warm" : "cold", design.lr,
                     seed);
}

Stable::Stable(const StudyResults& results, const StableGrid& grid, const StableArm& arm)
    : results_(results), grid_(grid), arm_(arm), cold_(climb_of(results, grid, arm, false)) {
  if (!arm.control) warm_ = climb_of(results, grid, arm, true);
}

std::optional<double> Stable::rate(bool warm) const {
  const std::optional<std::size_t> place = climbed(warm).stable;
  return place ? std::optional(grid_.ladder[*place]) : std::nullopt;
}

std::vector<StableDesign> Stable::judged() const {
  std::vector<StableDesign> designs;
  const auto add = [&](const StableDesign& design) {
    if (std::find(designs.begin(), designs.end(), design) == designs.end()) designs.push_back(design);
  };
  for (const bool largest_of : {true, false})
    if (const std::optional<double> lr = rate(largest_of)) {
      add({largest_of, *lr});
      if (!arm_.control) add({!largest_of, *lr});
    }
  return designs;
}

std::vector<double> Stable::losses(const StableDesign& design) const {
  std::vector<double> all;
  for (const std::uint64_t seed : grid_.judging)
    all.push_back(results_.number(curve_name(arm_, design, seed), "loss"));
  return all;
}

std::vector<double> Stable::sharpness(const StableDesign& design, std::size_t place) const {
  std::vector<double> all = losses(design);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::vector<double> curve =
        results_.series(curve_name(arm_, design, grid_.judging[s]), "sharpness");
    const bool known = survives(all[s]) && place < curve.size() && curve[place] > 0;
    all[s] = known ? curve[place] : kit::nothing;
  }
  return all;
}

Following stable_runs(const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  check_apart(grid.searching, grid.judging);
  Following following;
  for (const StableArm& arm : grid.arms) {
    const Stable stable(results, grid, arm);
    const std::size_t before = following.runs.size();
    for (const bool warm : {false, true})
      for (const Climbed::Run& run : stable.climbed(warm).runs)
        following.runs.push_back(search_run(grid, arm, {warm, grid.ladder[run.rate]}, run.seed));
    for (const StableDesign& design : stable.judged())
      for (const std::uint64_t seed : grid.judging)
        following.runs.push_back(curve_run(grid, arm, design, seed));
    double asked = 0;
    for (std::size_t i = before; i < following.runs.size(); ++i) asked += following.runs[i].seconds;
    following.seconds_later += std::max(0.0, expected_seconds(grid, arm) - asked);
  }
  return following;
}

}  // namespace gradus::lab::optimizers
