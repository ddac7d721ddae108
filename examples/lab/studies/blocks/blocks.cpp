// What models of the literature are made of, and what blocks cost that were made wrong.

#include <fmt/format.h>

#include <cmath>

#include "lab/studies/best_rate.h"
#include "lab/studies/blocks/models.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/blocks/parts.h"
#include "lab/studies/studies.h"
#include "lab/study/trial.h"

namespace gradus::lab {

namespace blocks {

Grid grid_of(const StudyOptions& options) {
  switch (options.budget) {
    case Budget::quick:
      return {.rates = {3e-3}, .seeds = seeds_from(options.seed, 3), .steps = 150};
    case Budget::standard:
      return {.rates = {1e-3, 3e-3, 1e-2}, .seeds = seeds_from(options.seed, 4), .steps = 400};
    case Budget::full:
      break;
  }
  return {.rates = {1e-3, 3e-3, 1e-2}, .seeds = seeds_from(options.seed, 8), .steps = 400};
}

std::string model_run(const std::string& model, std::uint64_t seed) {
  return fmt::format("{}-s{}", model, seed);
}
std::string training_run(const std::string& variant, double rate, std::uint64_t seed) {
  return fmt::format("train-{}-lr{}-s{}", variant, rate, seed);
}

double loss_of(const StudyResults& results, const std::string& variant, double rate, std::uint64_t seed) {
  return results.number(training_run(variant, rate, seed), "loss");
}

double rate_of(const StudyResults& results, const std::string& variant) {
  const Grid grid = grid_of(results.options);
  return best_rate(grid.rates, grid.seeds,
                   [&](double rate, std::uint64_t seed) { return loss_of(results, variant, rate, seed); });
}

std::vector<double> differences(const StudyResults& results, const std::string& one,
                                const std::string& other) {
  std::vector<double> found;
  const double of_one = rate_of(results, one), of_other = rate_of(results, other);
  if (!std::isfinite(of_one) || !std::isfinite(of_other)) return found;
  for (const std::uint64_t seed : grid_of(results.options).seeds) {
    const double difference = loss_of(results, one, of_one, seed) - loss_of(results, other, of_other, seed);
    if (std::isfinite(difference)) found.push_back(difference);
  }
  return found;
}

namespace {

constexpr std::size_t kModelSeeds = 3;  // there is no chance in them but the weights drawn

TrialOptions trial_of(const Variant& variant, const Grid& grid, double rate, std::uint64_t seed) {
  return {.placement = variant.placement,
          .layers = kTrainedLayers,
          .final_norm = variant.final_norm,
          .lr = rate,
          .steps = grid.steps,
          .seed = seed};
}

Measured train_variant(const TrialOptions& options) {
  nn::GPT model = new_model(recall_task(), options);
  const TrialResult result = train(recall_task(), model, options);
  return {.numbers = {{"loss", result.final_loss}, {"diverged", result.diverged}},
          .series = {{"losses", thinned(result.losses, 40)}}};
}

std::vector<StudyRun> blocks_plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : seeds_from(options.seed, kModelSeeds))
    for (const std::string& model : model_names())
      runs.push_back({.name = model_run(model, seed), .seconds = 0.01, .measure = [model, seed] {
                        return measure_model(model, seed);
                      }});
  for (const std::uint64_t seed : grid.seeds)
    for (const Variant& variant : variants())
      for (const double rate : grid.rates)
        runs.push_back(
            {.name = training_run(variant.name, rate, seed),
             .seconds = 0.008 * static_cast<double>(grid.steps),
             .measure = [options = trial_of(variant, grid, rate, seed)] { return train_variant(options); }});
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
  for (const std::uint64_t seed : seeds_from(results.options.seed, kModelSeeds))
    for (const auto& [model, ids] : built)
      for (const std::string& id : ids)
        if (const std::string run = model_run(model, seed); results.has(run))
          all[id].push_back(results.number(run, id));
  for (const Variant& variant : variants())
    if (!variant.meant.empty())
      all["mutant." + variant.name] = differences(results, variant.name, variant.meant);
  all["mutant.code-pre"] = differences(results, "pre", "post");
  return all;
}

}  // namespace

}  // namespace blocks

Study blocks_study() {
  return {.name = "blocks",
          .title = "Which block a model has, and which it should have had",
          .question =
              "Are GPT-1, GPT-2, GPT-3, T5 and BERT made as texts say, and what do blocks cost whose norms "
              "were put in the wrong place?",
          .plan = blocks::blocks_plan,
          .figures = blocks::blocks_figures,
          .report = blocks::report};
}

}  // namespace gradus::lab
