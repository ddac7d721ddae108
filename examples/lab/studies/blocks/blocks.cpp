// The blocks of published models, and the cost of blocks that were built wrong.

#include <fmt/format.h>

#include "lab/studies/blocks/models.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/blocks/parts.h"
#include "lab/studies/studies.h"
#include "lab/studies/tiny.h"

namespace gradus::lab {

namespace blocks {

// Task, widths, schedule and rates of the study final-norm, so that its stack without a final norm and this
// study's are the same runs.
Grid grid_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.rates = {3e-3, 1e-2}, .seeds = seeds_from(options.seed, 4), .steps = 200};
  return {.rates = {3e-3, 6e-3, 1e-2, 3e-2},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 20 : 8),
          .steps = 600};
}

Search Grid::search(const std::string& variant) const {
  return {.rates = rates, .seeds = seeds, .run = [variant](double rate, std::uint64_t seed) {
            return training_run(variant, rate, seed);
          }};
}

std::string model_run(const std::string& model, std::uint64_t seed) {
  return fmt::format("{}-s{}", model, seed);
}
std::string training_run(const std::string& variant, double rate, std::uint64_t seed) {
  return fmt::format("train-{}-lr{}-s{}", variant, rate, seed);
}

namespace {

std::vector<std::uint64_t> model_seeds(const StudyOptions& options) { return seeds_from(options.seed, 3); }

}  // namespace

Runs models_of(const StudyResults& results, const std::string& model) {
  return {results, model_seeds(results.options), [&](std::uint64_t seed) { return model_run(model, seed); }};
}

std::vector<double> differences(const StudyResults& results, const std::string& one,
                                const std::string& other) {
  const Grid grid = grid_of(results.options);
  return paired_difference(best_of(results, grid.search(one)).values,
                           best_of(results, grid.search(other)).values);
}

namespace {

constexpr double kLayerStep = 2.6e-4;  // seconds

TrialOptions trial_of(const Variant& variant, const Grid& grid, double rate, std::uint64_t seed) {
  TrialOptions options = tiny_trial(grid.steps);
  options.placement = variant.placement;
  options.layers = kTrainedLayers;
  options.final_norm = variant.final_norm;
  options.lr = rate;
  options.seed = seed;
  return options;
}

std::vector<StudyRun> blocks_plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : model_seeds(options))
    for (const std::string& model : model_names())
      runs.push_back({.name = model_run(model, seed), .seconds = 0.01, .measure = [model, seed] {
                        return measure_model(model, seed);
                      }});
  for (const std::uint64_t seed : grid.seeds)
    for (const Variant& variant : variants())
      for (const double rate : grid.rates)
        runs.push_back({.name = training_run(variant.name, rate, seed),
                        .seconds = kLayerStep * static_cast<double>((kTrainedLayers + 1) * grid.steps),
                        .measure = [options = trial_of(variant, grid, rate, seed)] {
                          return train_tiny(options, kCurvePoints);
                        }});
  return runs;
}

Figures blocks_figures(const StudyResults& results) {
  Figures all;
  const std::vector<std::pair<std::string, std::vector<std::string>>> built = {
      {"gpt1", {"gpt1.logits"}},
      {"gpt2", {"gpt2.formula", "gpt2.names", "gpt2.vocab", "gpt2.context"}},
      {"gpt3", {"gpt3.pre", "gpt3.layernorm"}},
      {"t5", {"t5.pre", "t5.layernorm"}},
      {"bert", {"bert.post", "bert.names"}}};
  for (const auto& [model, ids] : built)
    for (const std::string& id : ids) all[id] = models_of(results, model).numbers(id);
  for (const Mistake& mistake : mistakes())
    all[mistake.measure] = differences(results, mistake.made, mistake.meant);
  return all;
}

}  // namespace

}  // namespace blocks

Study blocks_study() {
  return {
      .name = "blocks",
      .title = "Blocks as described and as built",
      .question =
          "Are GPT-1, GPT-2, GPT-3, T5 and BERT built as described, and what does a block with its norms in "
          "the wrong place cost?",
      .setting =
          "Built: small models of 2 blocks with random weights, the worst of 3 draws. Trained: GPTs of 6 "
          "blocks, 16 channels and 2 heads on the small recall language (3 boxes, 4 things, 24 characters), "
          "600 steps of 8 documents, Adam, warm-up over 60 steps and half a cosine, rates 0.003, 0.006, 0.01 "
          "and 0.03 for all; 20 seeds. A seed's rate is the best of the other seeds; losses are measured on "
          "256 documents that no model was trained on, and differences are taken within a seed.",
      .scope = "by construction; trained: small recall language, width 16, 600 steps, N(0, 1/fan_in)",
      .plan = blocks::blocks_plan,
      .figures = blocks::blocks_figures,
      .report = blocks::report};
}

}  // namespace gradus::lab
