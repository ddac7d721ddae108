// The plan of the study `optimizers`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/radam.h"
#include "gradus/optim/sgd.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/optimizers/stable.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab {

namespace optimizers {

namespace {

template <class Optimizer, class Options>
MakeOptimizer made_with(Options settings) {
  return [settings](const nn::GPT& model, const optim::Schedule& lr) {
    Options its = settings;
    its.lr = lr;
    return std::make_unique<Optimizer>(model.parameters(), its);
  };
}

TrialOptions trial(const Grid& grid, const Variant& variant, std::size_t placement, bool warm, double lr,
                   std::uint64_t seed) {
  const std::int64_t frozen = variant.frozen, warmup = warm ? grid.warmup : 0;
  return {.placement = nn::placement_named(kPlacements[placement]),
          .layers = grid.layers,
          .lr = lr,
          .schedule = [frozen, warmup](double peak) -> optim::Schedule {
            const optim::Schedule after = optim::warmup_linear(peak, warmup);
            if (frozen == 0) return after;
            return [=](std::int64_t step) { return step <= frozen ? 0 : after(step - frozen); };
          },
          .optimizer = variant.make,
          .steps = grid.steps + frozen,
          .batch = variant.batch,
          .seed = seed};
}

/// Approximate seconds on one core: a fixed part for each call and one for each line of the batch.
double seconds_of(const Grid& grid, std::int64_t batch) {
  return 1e-3 * static_cast<double>(grid.layers * grid.steps) * (0.13 + 0.075 * static_cast<double>(batch));
}

void add_searches(std::vector<StudyRun>& runs, const Grid& grid, std::size_t place) {
  const std::uint64_t seed = grid.seeds[place];
  for (const Variant* variant : grid.variants) {
    if (place >= variant->most_seeds) continue;
    for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
      for (const bool warm : {false, true})
        for (const double lr : grid.lrs(*variant))
          runs.push_back({.name = run_name(*variant, placement, warm, lr, seed),
                          .seconds = seconds_of(grid, variant->batch),
                          .measure = [=] {
                            const TrialOptions options = trial(grid, *variant, placement, warm, lr, seed);
                            nn::GPT model = new_model(recall_task(), options);
                            return outcome_of(train(recall_task(), model, options), 8);
                          }});
  }
}

void add_curves(std::vector<StudyRun>& runs, const Grid& grid, std::uint64_t seed) {
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements)
      for (const bool warm : {false, true}) {
        const Curve curve{optimizer, placement, warm, seed};
        const auto points = static_cast<double>(grid.curve_steps.size());
        runs.push_back({.name = curve.name(),
                        .seconds = seconds_of(grid, 8) + 0.11 * static_cast<double>(grid.layers) * points,
                        .measure = [=] { return measure_curve(curve, grid); }});
      }
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (std::size_t place = 0; place < grid.seeds.size(); ++place) {
    add_searches(runs, grid, place);
    add_curves(runs, grid, grid.seeds[place]);
  }
  for (StudyRun& run : stable_runs({options, {}, 0}).runs) runs.push_back(std::move(run));
  return runs;
}

std::vector<Variant> all_variants() {
  using namespace optim;
  return {{.name = "momentum",
           .title = "SGD, momentum 0.9",
           .group = "optimizer",
           .lowest = 0.003,
           .make = made_with<SGD>(SGDOptions{.momentum = 0.9}),
           .in_quick = true},
          {.name = "adam",
           .title = "Adam",
           .group = "optimizer",
           .lowest = 3e-4,
           .make = lab::adam(),
           .in_quick = true},
          {.name = "radam",
           .title = "RAdam",
           .group = "optimizer",
           .lowest = 3e-4,
           .make = made_with<RAdam>(RAdamOptions{})},
          {.name = "adam-v-first",
           .title = "Adam, second moment first",
           .group = "cause",
           .lowest = 3e-4,
           .make = lab::adam(),
           .frozen = 50},
          {.name = "beta2-0.9",
           .title = "Adam, beta2 0.9",
           .group = "beta2",
           .lowest = 3e-4,
           .make = lab::adam(0.9)},
          {.name = "batch-2",
           .title = "Adam, batch 2",
           .group = "batch",
           .lowest = 3e-4,
           .make = lab::adam(),
           .batch = 2},
          {.name = "sgd",
           .title = "SGD",
           .group = "described",
           .lowest = 0.03,
           .make = made_with<SGD>(SGDOptions{}),
           .most_seeds = 3},
          {.name = "adamw",
           .title = "AdamW, decay 0.01",
           .group = "described",
           .lowest = 3e-4,
           .make = made_with<AdamW>(AdamWOptions{}),
           .most_seeds = 3},
          {.name = "beta2-0.99",
           .title = "Adam, beta2 0.99",
           .group = "described",
           .lowest = 3e-4,
           .make = lab::adam(0.99),
           .most_seeds = 3}};
}

}  // namespace

std::span<const Variant> variants() {
  static const std::vector<Variant> all = all_variants();
  return all;
}

std::vector<const Variant*> Grid::members(const std::string& group) const {
  std::vector<const Variant*> some;
  for (const Variant* variant : variants)
    if (variant->group == group || variant->name == "adam") some.push_back(variant);
  return some;
}

std::size_t Grid::end_of_warmup() const {
  return static_cast<std::size_t>(std::find(curve_steps.begin(), curve_steps.end(), warmup) -
                                  curve_steps.begin());
}

std::vector<double> Grid::lrs(const Variant& variant) const {
  std::vector<double> all;
  // Half decades, as round numbers: 0.0003, 0.001, 0.003, ...
  const double first = std::log10(variant.lowest / 3);
  for (std::size_t i = first_rate; i < first_rate + rates; ++i) {
    const double decade = std::pow(10.0, std::round(first) + static_cast<double>((i + 1) / 2));
    all.push_back(i % 2 == 0 ? 3 * decade : decade);
  }
  return all;
}

Grid grid_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick;
  Grid grid = quick ? Grid{.steps = 150,
                           .warmup = 40,
                           .layers = 4,
                           .first_rate = 1,
                           .rates = 3,
                           .curve_optimizers = {"momentum"},
                           .curve_placements = {1},
                           .curve_steps = {1, 20, 40, 150}}
                    : Grid{.steps = 400,
                           .warmup = 100,
                           .layers = 6,
                           .first_rate = 0,
                           .rates = 5,
                           .curve_optimizers = {"adam", "momentum"},
                           .curve_placements = {0, 1},
                           .curve_steps = {1, 25, 50, 100, 200, 400}};
  // Few variants and ten seeds: the smallest number with which shares of seeds can be decided, if all agree.
  grid.seeds = seeds_from(options.seed, options.budget == Budget::full ? 10 : 3);
  for (const Variant& variant : variants())
    if (!quick || variant.in_quick) grid.variants.push_back(&variant);
  return grid;
}

std::string run_name(const Variant& variant, std::size_t placement, bool warm, double lr,
                     std::uint64_t seed) {
  return fmt::format("{}-{}-{}-lr{:g}-s{}", variant.name, word_of(placement), warm ? "warm" : "cold", lr,
                     seed);
}

}  // namespace optimizers

Study optimizers_study() {
  return {.name = "optimizers",
          .title = "Optimizers, batches and the effect of warm-up",
          .question = "Is it Adam that needs warm-up, and what does warm-up change?",
          .setting =
              "GPTs of 6 blocks and width 32, Pre-LN and Post-LN with the same matrices at the start, N(0, "
              "1/fan_in), on the recall language: 400 steps of 8 lines, each optimizer at five rates half a "
              "decade apart, constant from the first step on or after 100 steps of linear warm-up; 10 seeds, "
              "3 of SGD, AdamW and beta2 0.99, which no measure needs, everything paired within a seed, "
              "whose rate is the one that is best on the other seeds. Readout: the loss on the validation "
              "set (nats per character), whether it is below that of the best n-gram, and the largest "
              "eigenvalue of the Hessian along runs at fixed rates (Adam 0.003, momentum SGD 0.03). Runs "
              "that survive: momentum SGD at rates 0.01 to 3, a quarter of a decade apart, from the lowest "
              "up until more than half of five searching seeds fail, Post-LN without and with warm-up, "
              "DeepNorm and Admin without; ten other seeds judge the largest rate at which none failed. A "
              "run fails when it ends at the loss of predicting without context or above.",
          .scope = "recall language, width 32, 6 blocks, 400 steps, N(0, 1/fan_in)",
          .plan = optimizers::plan,
          .figures = optimizers::figures,
          .report = optimizers::report,
          .next = optimizers::stable_runs};
}

}  // namespace gradus::lab
