// Attention during training: scores and their growth, the axis of the softmax, matches, subspaces of heads.

#include <fmt/format.h>

#include "lab/studies/attention/parts.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace attention {

Grid grid_of(const StudyOptions& options) {
  const auto seeds = [&](std::int64_t count) { return seeds_from(options.seed, count); };
  switch (options.budget) {
    case Budget::quick:
      return {.rates = {kRate}, .seeds = seeds(3), .scale_seeds = seeds(5), .steps = 200, .axis_steps = 150};
    case Budget::standard:
      return {.rates = {kRate, 1e-2},
              .seeds = seeds(5),
              .scale_seeds = seeds(20),
              .steps = 600,
              .axis_steps = 400};
    case Budget::full:
      break;
  }
  return {
      .rates = {kRate, 1e-2}, .seeds = seeds(12), .scale_seeds = seeds(20), .steps = 600, .axis_steps = 400};
}

std::string scale_run(std::uint64_t seed) { return fmt::format("scale-s{}", seed); }
std::string training_run(const std::string& variant, double rate, std::uint64_t seed) {
  return fmt::format("{}-lr{}-s{}", variant, rate, seed);
}
std::string axis_run(const std::string& axis, std::uint64_t seed) {
  return fmt::format("axis-{}-s{}", axis, seed);
}

Runs scale_runs(const StudyResults& results) {
  return {results, grid_of(results.options).scale_seeds, scale_run};
}
Runs training_runs(const StudyResults& results, const std::string& variant, double rate) {
  return {results, grid_of(results.options).seeds,
          [&](std::uint64_t seed) { return training_run(variant, rate, seed); }};
}
Runs axis_runs(const StudyResults& results, const std::string& axis) {
  return {results, grid_of(results.options).seeds, [&](std::uint64_t seed) { return axis_run(axis, seed); }};
}

namespace {

std::vector<StudyRun> attention_plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const double steps = static_cast<double>(grid.steps), axis_steps = static_cast<double>(grid.axis_steps);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.scale_seeds)
    runs.push_back(
        {.name = scale_run(seed), .seconds = 0.02, .measure = [seed] { return measure_scale(seed); }});
  for (const std::uint64_t seed : grid.seeds) {
    for (const Titled& variant : kVariants)
      for (const double rate : grid.rates)
        runs.push_back({.name = training_run(variant.name, rate, seed),
                        .seconds = 0.006 * steps + 1,
                        .measure = [=] { return measure_training(variant.name, rate, seed, grid.steps); }});
    for (const Titled& axis : kAxes)
      runs.push_back({.name = axis_run(axis.name, seed), .seconds = 0.006 * axis_steps, .measure = [=] {
                        return measure_axis(axis.name, seed, grid.axis_steps);
                      }});
  }
  return runs;
}

Figures attention_figures(const StudyResults& results) {
  Figures all;
  for (const char* id : {"scale.variance", "scale.entropy", "scale.gradient"})
    all[id] = scale_runs(results).numbers(id);
  for (const Titled& variant : kVariants)
    for (const double rate : grid_of(results.options).rates)
      for (const char* what : {"growth", "largest"})
        all[fmt::format("{}.{}.lr{}", what, variant.name, rate)] =
            training_runs(results, variant.name, rate).numbers(what);
  all["direction"] = training_runs(results, "pre").numbers("direction");
  for (const char* placement : {"pre", "post"})
    for (const char* what : {"auc", "cosine"})
      all[fmt::format("{}.{}", what, placement)] = training_runs(results, placement).numbers(what);
  for (const char* part : {"q", "k", "v"})
    for (const char* what : {"overlap", "turned"}) {
      const std::string id = fmt::format("{}.{}", what, part);
      all[id] = training_runs(results, "pre").numbers(id);
    }
  for (const char* axis : {"queries", "batch"})
    for (const char* what : {"rows", "future", "leak", "others"})
      all[fmt::format("{}.{}", what, axis)] = axis_runs(results, axis).numbers(what);
  return all;
}

std::string setting() {
  const Grid full = grid_of({.budget = Budget::full});
  return fmt::format(
      "Claim 43: random queries and keys, {} seeds. The other claims: GPTs of {} layers, 32 channels and 4 "
      "heads on the recall language, {} steps of 16 documents, Adam without warm-up at {}, and at {} where a "
      "row says so; the softmax over other axes in 2 layers, {} steps; {} seeds. Scores, heads and losses "
      "are read from the validation set; queries and keys of claims 44 and 45 at rate {}.",
      full.scale_seeds.size(), kTrainedLayers, full.steps, full.rates[0], full.rates[1], full.axis_steps,
      full.seeds.size(), kRate);
}

}  // namespace

}  // namespace attention

Study attention_study() {
  return {
      .name = "attention",
      .title = "Attention: scores, matches, subspaces",
      .question =
          "Do scores stay of order 1, what does a softmax over the wrong axis do, and what do heads share?",
      .setting = attention::setting(),
      .scope = "recall language, width 32, 600 steps, N(0, 1/fan_in)",
      .plan = attention::attention_plan,
      .figures = attention::attention_figures,
      .report = attention::report};
}

}  // namespace gradus::lab
