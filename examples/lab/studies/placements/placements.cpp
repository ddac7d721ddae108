// Every placement with the same budget and the same search, and some of them in stacks of hundreds of layers.

#include "lab/studies/placements/placements.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/analysis/statistics.h"
#include "lab/names.h"
#include "lab/studies/studies.h"

namespace gradus::lab::placements {

namespace {

// Seconds of one core for one layer and step.
constexpr double kLayerStep = 2.6e-4;

Measured measure(const nn::Placement& placement, std::int64_t layers, double rate, std::int64_t steps,
                 std::uint64_t seed, bool curve) {
  TrialOptions options = tiny_trial(steps);
  options.placement = placement;
  options.layers = layers;
  options.lr = rate;
  options.seed = seed;
  nn::GPT model = new_model(tiny_task(), options);
  const TrialResult result = train(tiny_task(), model, options);
  Measured measured = measured_of(result);
  if (curve) measured.series["losses"] = thinned(result.losses, 40);
  return measured;
}

void add_runs(std::vector<StudyRun>& runs, const Part& part, bool curve) {
  for (const nn::Placement& placement : part.placements)
    for (const std::int64_t layers : part.depths)
      for (const double rate : part.rates.at(layers))
        for (const std::uint64_t seed : part.seeds)
          runs.push_back({.name = run_name(placement, layers, rate, seed),
                          .seconds = kLayerStep * static_cast<double>((layers + 1) * part.steps),
                          .measure = [=, steps = part.steps] {
                            return measure(placement, layers, rate, steps, seed, curve);
                          }});
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  add_runs(runs, all_part(options), false);
  add_runs(runs, deep_part(options), true);
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  const Part part = all_part(results.options);
  for (const nn::Placement& placement : part.placements)
    all["above." + name_of(Placement{placement.name})] = finite(above_better(results, part, placement));
  const Part deep = deep_part(results.options);
  for (const std::int64_t layers : deep.depths) {
    const std::vector<double> loss = best_of(results, deep.search(nn::pre_ln(), layers)).values;
    const std::string depth = ".L" + std::to_string(layers);
    for (const double value : finite(loss)) {
      all["trains" + depth].push_back(tiny_task().context_free_loss() - value);
      if (results.options.budget != Budget::quick)  // whose steps are too few for that
        all["learns" + depth].push_back(tiny_baseline() - value);
    }
  }
  return all;
}

}  // namespace

Search Part::search(const nn::Placement& placement, std::int64_t layers) const {
  return {.rates = rates.at(layers), .seeds = seeds, .run = [=](double rate, std::uint64_t seed) {
            return run_name(placement, layers, rate, seed);
          }};
}

Part all_part(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.placements = nn::placements(),
            .depths = {6},
            .rates = {{6, {3e-3, 1e-2}}},
            .seeds = seeds_from(options.seed, 3),
            .steps = 200};
  const std::vector<double> rates = {1e-3, 3e-3, 1e-2, 3e-2};
  return {.placements = nn::placements(),
          .depths = {2, 12, 48},
          .rates = {{2, rates}, {12, rates}, {48, {1e-3, 3e-3, 1e-2}}},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 7 : 4),
          .steps = 400};
}

Part deep_part(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.placements = {nn::pre_ln(), nn::post_ln()},
            .depths = {96},
            .rates = {{96, {3e-3}}},
            .seeds = seeds_from(options.seed, 3),
            .steps = 90};
  const std::vector<double> rates = {1e-3, 3e-3};
  return {.placements = {nn::pre_ln(), nn::post_ln(), nn::deep_norm(), nn::rezero(), nn::keel()},
          .depths = {96, 192, 384},
          .rates = {{96, rates}, {192, rates}, {384, rates}},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 3 : 2),
          .steps = 240};
}

std::string run_name(const nn::Placement& placement, std::int64_t layers, double rate, std::uint64_t seed) {
  return fmt::format("{}-L{}-lr{}-s{}", name_of(Placement{placement.name}), layers, rate, seed);
}

Found better_of_two(const StudyResults& results, const Part& part, std::int64_t layers) {
  Found pre = best_of(results, part.search(nn::pre_ln(), layers));
  Found post = best_of(results, part.search(nn::post_ln(), layers));
  return mean(finite(post.values)) < mean(finite(pre.values)) ? post : pre;
}

std::vector<double> above_better(const StudyResults& results, const Part& part,
                                 const nn::Placement& placement) {
  std::vector<std::vector<double>> by_depth;
  for (const std::int64_t layers : part.depths) {
    std::vector<double> above = best_of(results, part.search(placement, layers)).values;
    const std::vector<double> better = better_of_two(results, part, layers).values;
    for (std::size_t s = 0; s < above.size(); ++s) above[s] -= better[s];
    by_depth.push_back(std::move(above));
  }
  return mean_by_seed(by_depth);
}

}  // namespace gradus::lab::placements

namespace gradus::lab {

Study placements_study() {
  return {
      .name = "placements",
      .title = "Every placement, same budget",
      .question = "Which placement overcomes the limits of Pre-LN and of Post-LN, and how deep can each go?",
      .plan = placements::plan,
      .figures = placements::figures,
      .report = placements::report};
}

}  // namespace gradus::lab
