// Pre-train on one recall language, fine-tune on another: rates and placements.

#include <fmt/format.h>

#include <limits>

#include "gradus/core/tape/autograd.h"
#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/fine_tuning/matched.h"
#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/search.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace fine_tuning {

namespace {
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
}

Grid grid_of(const StudyOptions& options) {
  Grid grid{.depths = {6, 12},
            .first_rates = {1e-3, 3e-3, 1e-2},
            .rates = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2},
            .seeds = seeds_from(options.seed, options.budget == Budget::full ? 10 : 5),
            .first_steps = 400,
            .warmup = 50,
            .steps = 150};
  if (options.budget != Budget::quick) return grid;
  grid.depths = {6};
  grid.first_rates = {3e-3};
  grid.rates = {1e-3, 3e-3, 1e-2};
  grid.seeds = seeds_from(options.seed, 3);
  grid.first_steps = 200;
  grid.steps = 100;
  return grid;
}

const Task& second_task() {
  static const Task task{RecallOptions{.boxes = 7, .things = 3, .length = 32}};
  return task;
}

std::string run_name(const std::string& placement, std::int64_t layers, std::uint64_t seed) {
  return fmt::format("{}-L{}-s{}", placement == "Pre-LN" ? "pre" : "post", layers, seed);
}

namespace {

struct Trained {
  nn::GPT model;
  double loss;
};

/// The best of the rates, by the loss on the first language.
Trained pre_train(const TrialOptions& base, const Grid& grid) {
  std::optional<Trained> best;
  for (const double rate : grid.first_rates) {
    TrialOptions options = base;
    options.lr = rate;
    options.warmup = grid.warmup;
    options.steps = grid.first_steps;
    nn::GPT model = new_model(recall_task(), options);
    const double loss = train(recall_task(), model, options).final_loss;
    if (!best || loss < best->loss) best.emplace(Trained{model, loss});
  }
  return *best;
}

}  // namespace

Measured measure(const std::string& placement, std::int64_t layers, std::uint64_t seed, const Grid& grid) {
  const TrialOptions base{.placement = nn::placement_named(placement), .layers = layers, .seed = seed};
  const Trained first = pre_train(base, grid);
  Measured measured;
  measured.numbers["first-loss"] = first.loss;
  for (const double rate : grid.rates) {
    nn::GPT model(first.model.options());
    model.copy_parameters_from(first.model);
    TrialOptions options = base;
    options.lr = rate;
    options.steps = grid.steps;
    const TrialResult result = train(second_task(), model, options);
    measured.numbers["second-start"] = result.start_loss;
    measured.series["loss"].push_back(result.final_loss);
    measured.series["diverged"].push_back(result.diverged);
    measured.series["forgetting"].push_back(validation_loss(model, recall_task()) - first.loss);
    measured.series[fmt::format("losses-lr{}", rate)] = thinned(result.losses, 25);
  }
  return measured;
}

std::vector<std::vector<double>> by_rate(const StudyResults& results, const std::string& placement,
                                         std::int64_t layers, const std::string& series) {
  const Grid grid = grid_of(results.options);
  std::vector<std::vector<double>> values(grid.rates.size());
  for (const std::uint64_t seed : grid.seeds) {
    const std::vector<double> one = results.series(run_name(placement, layers, seed), series);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(one.empty() ? kNone : one.at(i));
  }
  return values;
}

std::vector<std::optional<std::size_t>> best_places(const StudyResults& results, const std::string& placement,
                                                    std::int64_t layers) {
  return best_of_others(by_rate(results, placement, layers, "loss"));
}

std::vector<double> sensitivities(const StudyResults& results, const std::string& placement,
                                  std::int64_t layers) {
  return minus(mean_by_seed(by_rate(results, placement, layers, "loss")), ends(results, placement, layers));
}

std::vector<double> ends(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  return left_out_best(by_rate(results, placement, layers, "loss"));
}

std::vector<double> forgetting(const StudyResults& results, const std::string& placement,
                               std::int64_t layers) {
  return at_chosen(by_rate(results, placement, layers, "forgetting"),
                   best_places(results, placement, layers));
}

namespace {

std::vector<StudyRun> fine_tuning_plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const auto steps = static_cast<std::int64_t>(grid.first_rates.size()) * grid.first_steps +
                     static_cast<std::int64_t>(grid.rates.size()) * grid.steps;
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::int64_t layers : grid.depths)
      for (const std::string& placement : kPlacements)
        runs.push_back({.name = run_name(placement, layers, seed),
                        .seconds = 0.0014 * static_cast<double>(layers * steps),
                        .measure = [=] { return measure(placement, layers, seed, grid); }});
  for (StudyRun& run : matched_plan(options)) runs.push_back(std::move(run));
  return runs;
}

Figures fine_tuning_figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  const auto add = [&](const char* name, std::int64_t layers, const auto& of) {
    all[fmt::format("{}.L{}", name, layers)] =
        paired_difference(of(results, "Post-LN", layers), of(results, "Pre-LN", layers));
  };
  for (const std::int64_t layers : grid.depths) {
    add("sensitivity", layers, sensitivities);
    add("end", layers, ends);
    add("forgetting", layers, forgetting);
    const auto first_loss = [&](const char* placement) {
      return mean(Runs(results, grid.seeds, [&](std::uint64_t seed) {
                    return run_name(placement, layers, seed);
                  }).numbers("first-loss"));
    };
    // What is not learned cannot be forgotten.
    all.object(fmt::format("forgetting.L{}", layers),
               baselines_differ(first_loss("Post-LN"), first_loss("Pre-LN")));
  }
  add_matched_figures(all, results);
  return all;
}

}  // namespace

}  // namespace fine_tuning

Study fine_tuning_study() {
  return {
      .name = "fine-tuning",
      .title = "Fine-tuning by placement",
      .question = "Do Pre-LN and Post-LN differ when a trained model learns a second language?",
      .setting =
          "GPTs of 6 and 12 blocks, 32 channels and 4 heads learn the recall language (4 boxes, 6 things): "
          "Adam, 400 steps of 16 documents, warm-up over 50 steps, each seed at its best of the rates 0.001, "
          "0.003 and 0.01. Then they learn another language of as many characters (7 boxes, 3 things): 150 "
          "steps, no warm-up, a new Adam, rates 0.0003, 0.001, 0.003, 0.01 and 0.03. 10 seeds; a seed's rate "
          "of fine-tuning is the best on the other seeds, and placements are compared within a seed. A "
          "fine-tuning that diverges, or ends worse, counts with its initial loss. Forgetting at equal "
          "losses: pre-training at 0.001 after a warm-up of 200 steps ends where the mean of 20 batches has "
          "come nine tenths of the way from the best n-gram to the entropy (2000 steps at most), "
          "fine-tuning at 0.0003, 0.001 and 0.003 where the loss on the second language, measured every 10 "
          "steps and interpolated, has come half of its way (1000 steps at most); ten other seeds.",
      .scope = "recall language, width 32, 400 + 150 steps, N(0, 1/fan_in)",
      .plan = fine_tuning::fine_tuning_plan,
      .figures = fine_tuning::fine_tuning_figures,
      .report = fine_tuning::report};
}

}  // namespace gradus::lab
