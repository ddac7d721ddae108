// Initial weights x rate x placement: which placement tolerates which weights, and whether dividing by
// sqrt(2L) helps deep models.
//
// A run trains one model. A run that diverged or ended above its initial loss counts with its initial loss
// (trial.h).

#include "lab/studies/initialisations/initialisations.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/gradus.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab {

namespace initialisations {

std::vector<Depth> depths_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick, full = options.budget == Budget::full;
  if (quick) return {{6, {"fan_in", "small", "fan_in_scaled"}, {3e-3}, seeds_from(options.seed, 3)}};
  // GPT-2's weights, the small ones scaled, are left out: eight seeds decide more than a fifth kind would.
  const std::vector<std::string> kinds = {"fan_in", "xavier", "small", "tfixup"};
  std::vector<std::string> with_scaled = kinds;
  with_scaled.emplace_back("fan_in_scaled");
  const std::vector<std::uint64_t> seeds = seeds_from(options.seed, full ? 8 : 4);
  std::vector<Depth> depths = {{6, with_scaled, {1e-3, 3e-3, 1e-2}, seeds}, {12, kinds, {1e-3, 3e-3}, seeds}};
  if (full) depths.push_back({24, {"fan_in", "fan_in_scaled"}, {1e-3, 3e-3}, seeds});
  return depths;
}

std::string run_name(const std::string& scheme, const std::string& placement, std::int64_t layers, double lr,
                     std::uint64_t seed) {
  return fmt::format("{}-{}-L{}-lr{}-s{}", scheme, placement == "Pre-LN" ? "pre" : "post", layers, lr, seed);
}

Search Depth::search(const std::string& scheme, const std::string& placement) const {
  return {.rates = rates, .seeds = seeds, .run = [=, layers = layers](double lr, std::uint64_t seed) {
            return run_name(scheme, placement, layers, lr, seed);
          }};
}

std::vector<double> loss_over(const StudyResults& results, const Depth& depth, const std::string& scheme,
                              const std::string& placement, Over over) {
  const Search search = depth.search(scheme, placement);
  return over == Over::best_rate ? best_of(results, search).values : mean_by_seed(by_rate(results, search));
}

std::vector<double> spread_of_schemes(const StudyResults& results, const Depth& depth,
                                      const std::string& placement, Over over) {
  std::vector<double> spreads;
  for (std::size_t s = 0; s < depth.seeds.size(); ++s) {
    std::vector<double> of_schemes;
    for (const std::string& scheme : depth.schemes)
      if (scheme != "fan_in_scaled")
        of_schemes.push_back(loss_over(results, depth, scheme, placement, over).at(s));
    const auto [low, high] = std::minmax_element(of_schemes.begin(), of_schemes.end());
    spreads.push_back(finite(of_schemes).size() < of_schemes.size() ? kit::nothing : *high - *low);
  }
  return spreads;
}

std::vector<double> gain_of_scaling(const StudyResults& results, const Depth& depth,
                                    const std::string& placement, Over over) {
  return minus(loss_over(results, depth, "fan_in", placement, over),
               loss_over(results, depth, "fan_in_scaled", placement, over));
}

namespace {

Measured train_one(const TrialOptions& options, const std::string& scheme) {
  nn::GPT model = new_model(recall_task(), options, [&](const nn::GPT& gpt, std::uint64_t seed) {
    Generator generator(seed, 0);
    set_weights(gpt, scheme, options.layers, generator);
  });
  const TrialResult result = train(recall_task(), model, options);
  return {.numbers = {{"loss", result.final_loss}, {"diverged", result.diverged ? 1.0 : 0.0}}};
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  for (const Depth& depth : depths_of(options))
    for (const std::string& scheme : depth.schemes)
      for (const char* placement : kPlacements)
        for (const double lr : depth.rates)
          for (const std::uint64_t seed : depth.seeds) {
            TrialOptions trial{.placement = nn::placement_named(placement), .layers = depth.layers};
            trial.lr = lr;
            trial.steps = kSteps;
            trial.seed = seed;
            runs.push_back({.name = run_name(scheme, placement, depth.layers, lr, seed),
                            .seconds = 0.37 * static_cast<double>(depth.layers),
                            .measure = [trial, scheme] { return train_one(trial, scheme); }});
          }
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  for (const Depth& depth : depths_of(results.options)) {
    const auto add = [&](const std::string& what, const std::vector<double>& values) {
      for (const double value : values) keep(all, fmt::format("{}.L{}", what, depth.layers), value);
    };
    for (const char* placement : kPlacements) {
      const std::string word = placement == kPlacements[0] ? "pre" : "post";
      add("scaling-mean." + word, gain_of_scaling(results, depth, placement, Over::mean_of_rates));
      add("scaling-best." + word, gain_of_scaling(results, depth, placement, Over::best_rate));
    }
    for (const Over over : {Over::best_rate, Over::mean_of_rates}) {
      const auto pre = spread_of_schemes(results, depth, kPlacements[0], over),
                 post = spread_of_schemes(results, depth, kPlacements[1], over);
      const std::string word = over == Over::best_rate ? "best" : "mean";
      add("spread-" + word + ".pre", pre);
      add("spread-" + word + ".difference", minus(post, pre));
    }
  }
  return all;
}

}  // namespace

}  // namespace initialisations

Study initialisations_study() {
  return {.name = "initialisations",
          .title = "Initial weights, rate and placement",
          .question =
              "Which placement tolerates which initial weights, and does dividing those that write into the "
              "stream by √(2L) help deep models?",
          .setting =
              "GPTs of 6, 12 and 24 blocks and width 32, Pre-LN and Post-LN, on the recall language: 280 "
              "steps of 16 lines, Adam at a constant rate, no warm-up; rates 0.001, 0.003 and, with 6 "
              "blocks, 0.01; 8 seeds. Readout: the loss on the validation set (nats per character), paired "
              "within a seed: its weights are the same normals times factors, and its rate is the one that "
              "is best on the other seeds.",
          .scope = "recall language, width 32, 280 steps without warm-up, the initial weights named",
          .plan = initialisations::plan,
          .figures = initialisations::figures,
          .report = initialisations::report};
}

}  // namespace gradus::lab
