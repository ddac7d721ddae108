// Initial weights x rate x placement: who bears which, and what dividing by sqrt(2L) does for depth.
//
// A run trains one model. A run that diverged or ended above where it started counts as the loss it started
// with (trial.h).

#include "lab/studies/initialisations/initialisations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/search.h"
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

std::optional<std::vector<double>> losses(const StudyResults& results, const Depth& depth,
                                          const std::string& scheme, const std::string& placement,
                                          std::uint64_t seed) {
  std::vector<double> all;
  for (const double lr : depth.rates) {
    all.push_back(results.number(run_name(scheme, placement, depth.layers, lr, seed), "loss"));
    if (std::isnan(all.back())) return std::nullopt;
  }
  return all;
}

std::optional<double> loss_over(const StudyResults& results, const Depth& depth, const std::string& scheme,
                                const std::string& placement, std::uint64_t seed, Over over) {
  const auto own = losses(results, depth, scheme, placement, seed);
  if (!own) return std::nullopt;
  if (over == Over::mean_of_rates) return mean(*own);
  const Search search{.rates = depth.rates, .seeds = depth.seeds, .run = [&](double lr, std::uint64_t one) {
                        return run_name(scheme, placement, depth.layers, lr, one);
                      }};
  const auto place = std::find(depth.seeds.begin(), depth.seeds.end(), seed) - depth.seeds.begin();
  return best_of(results, search).values.at(static_cast<std::size_t>(place));
}

std::optional<double> spread_of_schemes(const StudyResults& results, const Depth& depth,
                                        const std::string& placement, std::uint64_t seed, Over over) {
  std::vector<double> of_schemes;
  for (const std::string& scheme : depth.schemes) {
    if (scheme == "fan_in_scaled") continue;
    const auto loss = loss_over(results, depth, scheme, placement, seed, over);
    if (!loss) return std::nullopt;
    of_schemes.push_back(*loss);
  }
  const auto [low, high] = std::minmax_element(of_schemes.begin(), of_schemes.end());
  return *high - *low;
}

std::optional<double> gain_of_scaling(const StudyResults& results, const Depth& depth,
                                      const std::string& placement, std::uint64_t seed, Over over) {
  const auto plain = loss_over(results, depth, "fan_in", placement, seed, over);
  const auto scaled = loss_over(results, depth, "fan_in_scaled", placement, seed, over);
  if (!plain || !scaled) return std::nullopt;
  return *plain - *scaled;
}

namespace {

Measured train_one(const TrialOptions& options, const std::string& scheme) {
  nn::GPT model = new_model(recall_task(), options, [&](const nn::GPT& gpt, std::uint64_t seed) {
    Generator generator(seed, 0);
    set_weights(gpt, scheme, options.layers, generator);
  });
  const TrialResult result = train(recall_task(), model, options);
  return {.numbers = {{"loss", result.final_loss}, {"diverged", result.diverged ? 1.0 : 0.0}}, .series = {}};
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
  const auto add = [&](const std::string& id, const std::optional<double>& value) {
    if (value) all[id].push_back(*value);
  };
  for (const Depth& depth : depths_of(results.options))
    for (const std::uint64_t seed : depth.seeds) {
      const auto id = [&](const char* what) { return fmt::format("{}.L{}", what, depth.layers); };
      for (const char* placement : kPlacements) {
        const std::string word = placement == kPlacements[0] ? "pre" : "post";
        add(id(("scaling-mean." + word).c_str()),
            gain_of_scaling(results, depth, placement, seed, Over::mean_of_rates));
        add(id(("scaling-best." + word).c_str()),
            gain_of_scaling(results, depth, placement, seed, Over::best_rate));
      }
      for (const Over over : {Over::best_rate, Over::mean_of_rates}) {
        const auto pre = spread_of_schemes(results, depth, kPlacements[0], seed, over);
        const auto post = spread_of_schemes(results, depth, kPlacements[1], seed, over);
        const std::string word = over == Over::best_rate ? "best" : "mean";
        add(id(("spread-" + word + ".pre").c_str()), pre);
        if (pre && post) add(id(("spread-" + word + ".difference").c_str()), *post - *pre);
      }
    }
  return all;
}

}  // namespace

}  // namespace initialisations

Study initialisations_study() {
  return {
      .name = "initialisations",
      .title = "Initial weights, rate and placement",
      .question =
          "Which placement bears which initial weights, and does dividing those that write into "
          "the stream by √(2L) help depth?",
      .setting =
          "GPTs of 6, 12 and 24 blocks and width 32, Pre-LN and Post-LN, on the recall language: 280 steps "
          "of 16 lines, Adam at a constant rate, no warm-up; rates 0.001, 0.003 and, with 6 blocks, 0.01; "
          "8 seeds. Readout: the loss on the validation set (nats "
          "per character), paired within a seed: its weights are the same normals times factors, and its "
          "rate is the one that is best on the other seeds.",
      .scope = "recall language, width 32, 280 steps without warm-up, the initial weights named",
      .plan = initialisations::plan,
      .figures = initialisations::figures,
      .report = initialisations::report};
}

}  // namespace gradus::lab
