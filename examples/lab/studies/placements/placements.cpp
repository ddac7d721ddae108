// Every placement with the same budget and the same search, and some of them in stacks of hundreds of layers.

#include "lab/studies/placements/placements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/statistics/format.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/placements/searched.h"
#include "lab/studies/studies.h"

namespace gradus::lab::placements {

namespace {

// Seconds of one core for one layer and step.
constexpr double kLayerStep = 2.6e-4;

void add_runs(std::vector<StudyRun>& runs, const Part& part, bool curve) {
  for (const nn::Placement& placement : part.placements)
    for (const std::int64_t layers : part.depths)
      for (const double rate : part.rates.at(layers))
        for (const std::uint64_t seed : part.seeds_of(placement)) {
          TrialOptions trial = tiny_trial(part.steps);
          trial.placement = placement;
          trial.layers = layers;
          trial.lr = rate;
          trial.seed = seed;
          runs.push_back({.name = run_name(placement, layers, rate, seed),
                          .seconds = kLayerStep * static_cast<double>((layers + 1) * part.steps),
                          .measure = [trial, curve] { return train_tiny(trial, curve ? 40 : 0); }});
        }
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  add_runs(runs, all_part(options), false);
  add_runs(runs, deep_part(options), true);
  for (StudyRun& run : plan_searched(options)) runs.push_back(std::move(run));
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  const Part part = all_part(results.options);
  for (const nn::Placement& placement : part.judged)
    all["above." + name_of(placement)] = finite(above_at_worst(results, part, placement));
  const Part deep = deep_part(results.options);
  for (const std::int64_t layers : deep.depths) {
    const std::vector<double> loss = best_of(results, deep.search(nn::pre_ln(), layers)).values;
    const std::string depth = ".L" + std::to_string(layers);
    for (const double value : finite(loss)) {
      all["trains" + depth].push_back(tiny_task().context_free_loss() - value);
      if (results.options.budget != Budget::quick)  // quick runs have too few steps for that
        all["learns" + depth].push_back(tiny_baseline() - value);
    }
  }
  add_searched_figures(all, results);
  return all;
}

/// Placements that put norms both into the branches and after the sum, in one block or in different ones, and
/// DeepNorm, whose paper says that it has the best of both.
std::vector<nn::Placement> hybrids() {
  return {nn::deep_norm(), nn::b2t(),         nn::resi_dual(),   nn::mix_ln(),
          nn::peri_ln(),   nn::hybrid_norm(), nn::siamese_norm()};
}

std::vector<nn::Placement> two_and_hybrids() {
  std::vector<nn::Placement> all = hybrids();
  all.insert(all.begin(), {nn::pre_ln(), nn::post_ln()});
  return all;
}

}  // namespace

const std::vector<std::uint64_t>& Part::seeds_of(const nn::Placement& placement) const {
  return std::find(judged.begin(), judged.end(), placement) != judged.end() ? seeds : few_seeds;
}

Search Part::search(const nn::Placement& placement, std::int64_t layers) const {
  return {.rates = rates.at(layers),
          .seeds = seeds_of(placement),
          .run = [=](double rate, std::uint64_t seed) { return run_name(placement, layers, rate, seed); }};
}

Part all_part(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.placements = nn::placements(),
            .judged = two_and_hybrids(),
            .depths = {6},
            .rates = {{6, {3e-3, 1e-2}}},
            .seeds = seeds_from(options.seed, 3),
            .few_seeds = seeds_from(options.seed, 3),
            .steps = 200};
  return {.placements = nn::placements(),
          .judged = two_and_hybrids(),
          .depths = {2, 12, 24},  // Post-LN fails from 12 on
          .rates = {{2, {3e-3, 1e-2, 3e-2}}, {12, {1e-3, 3e-3, 1e-2}}, {24, {3e-3, 1e-2}}},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 14 : 4),
          .few_seeds = seeds_from(options.seed, 2),
          .steps = 400};
}

Part deep_part(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.placements = {nn::pre_ln(), nn::post_ln()},
            .judged = {nn::pre_ln()},
            .depths = {96},
            .rates = {{96, {3e-3}}},
            .seeds = seeds_from(options.seed, 3),
            .few_seeds = seeds_from(options.seed, 3),
            .steps = 90};
  const std::vector<double> rates = {1e-3, 3e-3};
  return {.placements = {nn::pre_ln(), nn::post_ln(), nn::deep_norm(), nn::rezero()},
          .judged = {nn::pre_ln()},
          .depths = {96, 384},
          .rates = {{96, rates}, {384, rates}},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 7 : 3),
          .few_seeds = seeds_from(options.seed, 2),
          .steps = 240};
}

std::string run_name(const nn::Placement& placement, std::int64_t layers, double rate, std::uint64_t seed) {
  return fmt::format("{}-L{}-lr{}-s{}", name_of(placement), layers, rate, seed);
}

std::vector<double> above_better(const StudyResults& results, const Part& part,
                                 const nn::Placement& placement, std::int64_t layers) {
  const Found better =
      best_of(results, {part.search(nn::pre_ln(), layers), part.search(nn::post_ln(), layers)});
  return minus(best_of(results, part.search(placement, layers)).values, better.values);
}

std::vector<double> above_at_worst(const StudyResults& results, const Part& part,
                                   const nn::Placement& placement) {
  std::vector<std::vector<double>> above, below;  // [depth][seed]
  for (const std::int64_t layers : part.depths) {
    above.push_back(above_better(results, part, placement, layers));
    below.push_back(above.back());
    for (double& value : below.back()) value = -value;
  }
  return at_chosen(above, best_of_others(below));
}

}  // namespace gradus::lab::placements

namespace gradus::lab {

Study placements_study() {
  return {
      .name = "placements",
      .title = "Every placement, same budget",
      .question = "Which placement overcomes the limits of Pre-LN and of Post-LN, and how deep can each go?",
      .setting =
          "GPTs of 16 channels on the small recall language, 8 documents of 24 characters a step, Adam, "
          "warm-up over a tenth of the steps and half a cosine down to 0, the same matrices N(0, 1/fan_in) "
          "at the start except for those a placement sets itself: 400 steps with 2, 12 and 24 blocks, three "
          "rates (two with 24), 14 seeds; Pre-LN alone with 96 and 384 blocks, 240 steps, two rates, 7 "
          "seeds. Readout: the loss on the validation set (nats per character), paired within a seed, whose "
          "rate is the one that is best on the other seeds. Two more comparisons search rates from 0.0003 or "
          "0.001 up, and initial weights where a paper prescribes none, on three seeds, and judge on ten "
          "others: 24 blocks of width 32 for 2000 steps of 4 lines of the language of `best`, each placement "
          "proposed for deep stacks against the better of Pre-LN and Post-LN on the searching seeds; and the "
          "small models with 96 blocks until they have learned to look back, or 3000 steps.",
      .scope = "small recall language, width 16, 400 steps, N(0, 1/fan_in)",
      .plan = placements::plan,
      .figures = placements::figures,
      .report = placements::report,
      .next = placements::next_searched};
}

}  // namespace gradus::lab
