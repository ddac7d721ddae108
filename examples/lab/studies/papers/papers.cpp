// The plan of the study `papers`: a search for each arm, the runs that judge its choice, and models whose
// keys are measured.

#include "lab/studies/papers/papers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/studies/papers/keys.h"
#include "lab/studies/papers/without_norm.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace papers {

namespace {

// Seconds of one core: a block of a step, the extra measurements of a model, a step of a model for its keys.
constexpr double kBlockStep = 3.2e-4, kLook = 2, kKeyStep = 4e-3;
// These seeds occur in no other study.
constexpr std::uint64_t kSearching = 120, kJudging = 220;

Arm arm_of(const std::string& word, const std::string& title, const nn::Placement& placement,
           std::int64_t layers) {
  return {.name = fmt::format("{}-L{}", word, layers),
          .title = fmt::format("{}, {} layers", title, layers),
          .placement = placement,
          .layers = layers};
}

Arm with_weights(Arm arm, const std::string& weights, std::vector<std::size_t> warmups = {0, 1}) {
  arm.weights = weights;
  arm.warmups = std::move(warmups);
  return arm;
}

Arm looked_into(Arm arm) {
  arm.looked_into = true;
  return arm;
}

std::vector<Arm> shallow_arms() {
  Arm scale_norm = arm_of("scalenorm", "Pre-LN with ScaleNorm", nn::pre_ln(), 6);
  scale_norm.norm = nn::make_norm<ScaleNorm>;
  return {arm_of("pre", "Pre-LN", nn::pre_ln(), 6), arm_of("post", "Post-LN", nn::post_ln(), 6),
          arm_of("b2t", "B2T", nn::b2t(), 6), arm_of("residual", "ResiDual", nn::resi_dual(), 6), scale_norm};
}

std::vector<Arm> deep_arms() {
  return {looked_into(arm_of("pre", "Pre-LN", nn::pre_ln(), 18)),
          arm_of("post", "Post-LN", nn::post_ln(), 18),
          arm_of("admin", "Admin", nn::admin(), 18),
          arm_of("b2t", "B2T", nn::b2t(), 18),
          arm_of("residual", "ResiDual", nn::resi_dual(), 18),
          looked_into(arm_of("mix", "Mix-LN", nn::mix_ln(), 18)),
          looked_into(arm_of("peri", "Peri-LN", nn::peri_ln(), 18)),
          arm_of("none", "No norm", nn::no_norm(), 18),
          with_weights(arm_of("fixup", "Fixup", fixup(), 18), "fixup"),
          with_weights(arm_of("tfixup-cold", "T-Fixup without warm-up", nn::no_norm(), 18), "tfixup", {0}),
          with_weights(arm_of("tfixup-warm", "T-Fixup with warm-up", nn::no_norm(), 18), "tfixup", {1})};
}

std::vector<Arm> deepest_arms() {
  return {with_weights(arm_of("deepnorm", "DeepNorm", nn::deep_norm(), 100), "xavier", {1}),
          with_weights(arm_of("post", "Post-LN", nn::post_ln(), 100), "xavier", {1})};
}

double seconds_of(const Grid& grid, const Arm& arm) {
  return kBlockStep * static_cast<double>(grid.steps * arm.layers);
}

/// The order of runs: the deepest models last, and among the others the searches first.
std::uint64_t round_of(const Arm& arm, bool judges) {
  return (arm.layers > 18 ? 2U : 0U) + (judges ? 1U : 0U);
}

StudyRun run_of(const Grid& grid, const Arm& arm, const Design& design, std::uint64_t seed, bool judges) {
  return {.name = run_name(arm, design, seed),
          .seconds = seconds_of(grid, arm) + (judges && arm.looked_into ? kLook : 0),
          .round = round_of(arm, judges),
          .measure = [=, steps = grid.steps] { return measure(arm, design, steps, seed, judges); },
          .group = arm.name};
}

/// The number of runs of an arm's search and judging, if no grid grows.
double expected_runs(const Grid& grid, const Arm& arm) {
  const std::size_t settings = arm.warmups.size() * (grid.last - grid.first + 1);
  return static_cast<double>(runs_without_growth(settings, grid.searching.size(), grid.kept) +
                             grid.judging.size());
}

std::vector<StudyRun> asked(const Grid& grid, const ArmResults& results) {
  std::vector<StudyRun> runs;
  for (const Searched::Run& run : results.searched().runs)
    runs.push_back(run_of(grid, results.arm(), results.design(run.setting), run.seed, false));
  if (const std::optional<Design> design = results.chosen())
    for (const std::uint64_t seed : grid.judging)
      runs.push_back(run_of(grid, results.arm(), *design, seed, true));
  return runs;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  check_apart(grid.searching, grid.judging);
  const StudyResults nothing{options, {}, 0};
  std::vector<StudyRun> runs;
  for (const Arm& arm : grid.arms)
    for (StudyRun& run : asked(grid, ArmResults(nothing, grid, arm))) runs.push_back(std::move(run));
  for (const KeyKind& kind : key_kinds())
    for (const std::uint64_t seed : grid.judging)
      runs.push_back(
          {.name = keys_name(kind, seed),
           .seconds = kKeyStep * static_cast<double>(grid.key_steps),
           .measure = [kind, seed, steps = grid.key_steps] { return measure_keys(kind, steps, seed); }});
  return runs;
}

Following next(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Following following;
  for (const Arm& arm : grid.arms)
    following.add(asked(grid, ArmResults(results, grid, arm)),
                  expected_runs(grid, arm) * seconds_of(grid, arm));
  return following;
}

}  // namespace

Grid grid_of(const StudyOptions& options) {
  Grid grid{.arms = shallow_arms(),
            .steps = 3000,
            .warmups = {0, 750},
            // At the lowest rates hardly anything is learned: the search of an arm that fails ends inside.
            .ladder = {1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
            .first = 4,
            .last = 8,
            .searching = seeds_from(options.seed + kSearching, 3),
            .judging = seeds_from(options.seed + kJudging, 12),  // shares: one seed may dissent
            .kept = {4, 2},
            .key_steps = 400};
  if (options.budget == Budget::quick) {
    grid.arms = {grid.arms.front(), grid.arms.back()};  // Pre-LN with both norms
    grid.steps = 100, grid.warmups = {0, 25};
    grid.first = 6, grid.last = 7, grid.searching.resize(1), grid.judging.resize(5), grid.key_steps = 100;
    return grid;
  }
  for (const Arm& arm : deep_arms()) grid.arms.push_back(arm);
  if (options.budget == Budget::full) {
    for (const Arm& arm : deepest_arms()) grid.arms.push_back(arm);
  } else {
    grid.steps = 800, grid.warmups = {0, 200};
    grid.searching.resize(2), grid.judging.resize(5), grid.kept = {2};
  }
  return grid;
}

std::string run_name(const Arm& arm, const Design& design, std::uint64_t seed) {
  return fmt::format("{}-w{}-lr{}-s{}", arm.name, design.warmup, design.lr, seed);
}

}  // namespace papers

Study papers_study() {
  return {
      .name = "papers",
      .title = "Published findings in miniature",
      .question = "Do findings of papers on norms and their places have the same sign in small models?",
      .setting =
          "GPTs of width 32 on the recall language with ten boxes of five things and a chain of two: 3000 "
          "steps of 4 lines, Adam, no clipping. Xavier's initial weights, except for DeepNorm, Fixup and "
          "T-Fixup, which have their own; rates 0.0001 to 0.01, half a decade apart, and beyond where the "
          "best is the first or last (0.000001 to 0.1); constant, or after a linear warm-up of 750 steps "
          "(100 layers: only that). For each arm all settings on one seed, the best 4 on a second, 2 on a "
          "third; twelve other seeds judge the best. Keys: GPTs of 2 blocks, width 8 and one head, 400 steps "
          "of 8 lines of 64 characters at rate 0.003, N(0, 1/fan_in), twelve seeds.",
      .scope = "recall language with a chain, width 32, 3000 steps, initial weights as named",
      .plan = papers::plan,
      .figures = papers::figures,
      .report = papers::report,
      .next = papers::next};
}

}  // namespace gradus::lab
