// The Jacobian of layer norm: the printed formula against finite differences, and training with wrong ones.
//
// A run trains one model. Each variant and placement is given the same rates, and each seed takes the one
// that is best on the other seeds; the figures are losses minus that of the right backward, seed by seed. A
// run that diverged counts with its initial loss (trial.h).

#include "lab/studies/jacobians/jacobians.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/statistics/format.h"
#include "lab/studies/jacobian.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"

namespace gradus::lab {

namespace jacobians {

Grid grid_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick;
  Grid grid{.variants = {kVariants.begin(), kVariants.end()},
            .rates = {3e-4, 1e-3, 3e-3, 1e-2},
            .seeds = seeds_from(options.seed, per_budget(options.budget, 3, 5, 10)),
            .formula_seeds = seeds_from(options.seed, quick ? 10 : 30)};
  if (quick) {
    grid.variants = {kVariants[0], kVariants[2]};
    grid.rates = {3e-3};
  }
  return grid;
}

std::string formula_name(std::uint64_t seed) { return fmt::format("formula-s{}", seed); }

std::string run_name(const std::string& variant, const std::string& placement, double lr,
                     std::uint64_t seed) {
  return fmt::format("{}-{}-lr{}-s{}", variant, placement == "Pre-LN" ? "pre" : "post", lr, seed);
}

Search search_of(const Grid& grid, const std::string& variant, const std::string& placement) {
  return {.rates = grid.rates, .seeds = grid.seeds, .run = [=](double lr, std::uint64_t seed) {
            return run_name(variant, placement, lr, seed);
          }};
}

std::vector<double> lost(const StudyResults& results, const Grid& grid, const std::string& variant,
                         const std::string& placement) {
  return paired_difference(best_of(results, search_of(grid, variant, placement)).values,
                           best_of(results, search_of(grid, "right", placement)).values);
}

namespace {

TrialOptions trial(const Variant& variant, const std::string& placement, double lr, std::uint64_t seed) {
  TrialOptions options{.placement = nn::placement_named(placement), .layers = kLayers};
  options.block.norm = own_layer_norm(variant.backward);
  options.lr = lr;
  options.steps = kSteps;
  options.seed = seed;
  return options;
}

std::vector<Tensor> first_gradients(const nn::GPT& model, const Batch& batch) {
  model.zero_grad();
  model.loss(batch.inputs, batch.targets).backward();
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad().clone());
  model.zero_grad();
  return gradients;
}

/// The cosine between the gradients of this and of the right backward in equal models, over all parameters.
double gradient_cosine(const nn::GPT& model, TrialOptions options) {
  const Task& task = recall_task();
  options.block.norm = own_layer_norm(NormBackward::right);
  const nn::GPT right = new_model(task, options);
  Generator generator(options.seed, 7);
  const Batch batch = task.batch(options.batch, generator);
  const std::vector<Tensor> a = first_gradients(model, batch), b = first_gradients(right, batch);
  double both = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] * b[i]).sum().item();
    aa += a[i].square().sum().item();
    bb += b[i].square().sum().item();
  }
  return both / std::sqrt(aa * bb);
}

Measured train_one(const TrialOptions& options) {
  nn::GPT model = new_model(recall_task(), options);
  const double cosine = gradient_cosine(model, options);
  const TrialResult result = train(recall_task(), model, options);
  return {.numbers = {{"loss", result.final_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0},
                      {"gradient-cosine", cosine}},
          .series = {{"losses", thinned(result.losses, 40)}}};
}

Measured check_formula(std::uint64_t seed) {
  const JacobianCheck check = check_layer_norm_jacobian(6, seed);
  return {.numbers = {{"right", check.max_error},
                      {"printed", check.wrong_mean_only},
                      {"constant-sigma", check.wrong_constant_sigma}}};
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.formula_seeds)
    runs.push_back(
        {.name = formula_name(seed), .seconds = 0.01, .measure = [seed] { return check_formula(seed); }});
  for (const Variant& variant : grid.variants)
    for (const char* placement : kPlacements)
      for (const double lr : grid.rates)
        for (const std::uint64_t seed : grid.seeds)
          runs.push_back(
              {.name = run_name(variant.name, placement, lr, seed),
               .seconds = 2.5,
               .measure = [options = trial(variant, placement, lr, seed)] { return train_one(options); }});
  return runs;
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  all["jacobian-printed"] = Runs(results, grid.formula_seeds, formula_name).numbers("printed");
  all["loss.pre"] = lost(results, grid, "printed", kPlacements[0]);
  all["loss.post"] = lost(results, grid, "printed", kPlacements[1]);
  return all;
}

std::string setting() {
  const Grid full = grid_of({.budget = Budget::full});
  const TrialOptions defaults;
  return fmt::format(
      "The formula: random tokens of 6 channels in f64, {} seeds. In training: GPTs of {} layers and {} "
      "channels on the recall language, {} steps of {} windows, Adam without warm-up; rates {}, each "
      "backward and placement at the one that is best on the other seeds; {} seeds, which share weights and "
      "data; losses on the validation set after training.",
      full.formula_seeds.size(), kLayers, defaults.block.d_model, kSteps, defaults.batch, listed(full.rates),
      full.seeds.size());
}

}  // namespace

}  // namespace jacobians

Study jacobians_study() {
  return {
      .name = "jacobians",
      .title = "The Jacobian of layer norm",
      .question =
          "Is the often-quoted Jacobian of layer norm right, and what does training with a wrong one cost?",
      .setting = jacobians::setting(),
      .scope = "recall language, width 32, 6 blocks, 300 steps, N(0, 1/fan_in)",
      .plan = jacobians::plan,
      .figures = jacobians::figures,
      .report = jacobians::report};
}

}  // namespace gradus::lab
