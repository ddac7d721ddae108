#include "lab/studies/translation/translation.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/shared.h"
#include "lab/studies/studies.h"
#include "lab/studies/translation/long_training.h"

namespace gradus::lab::translation {

Grid grid_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick, full = options.budget == Budget::full;
  Grid grid{.warmups = {0, quick ? 50 : 200},
            .rates = {1e-3, 3e-3},
            .seeds = seeds_from(options.seed, full ? 6 : 3)};
  grid.training.steps = 800;
  if (!quick) return grid;
  grid.rates = {3e-3};
  grid.training.d_model = 32;
  grid.training.d_ff = 64;
  grid.training.steps = 230;
  grid.training.tokens = 384;
  grid.selection = {.vocabulary = 1000, .longest = 14, .test = 100};
  return grid;
}

std::string run_name(const std::string& placement, std::int64_t warmup, double rate, std::uint64_t seed) {
  return fmt::format("{}-w{}-lr{}-s{}", placement == "Pre-LN" ? "pre" : "post", warmup, rate, seed);
}

Search Grid::search(const std::string& placement, std::int64_t warmup) const {
  return {.rates = rates,
          .seeds = seeds,
          .run = [=](double rate, std::uint64_t seed) { return run_name(placement, warmup, rate, seed); },
          .number = "bleu",
          .large_is_good = true};
}

std::vector<double> bleu_ratios(const std::vector<double>& without, const std::vector<double>& with) {
  std::vector<double> ratios;
  for (std::size_t seed = 0; seed < std::min(without.size(), with.size()); ++seed)
    if (without[seed] >= 0 && with[seed] >= 1) ratios.push_back(without[seed] / with[seed]);
  return ratios;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const Corpus corpus = corpus_of(options.data, grid.selection);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::string& placement : kPlacements)
      for (const std::int64_t warmup : grid.warmups)
        for (const double rate : grid.rates) {
          TrainOptions training = grid.training;
          training.placement = nn::placement_named(placement);
          training.lr = rate;
          training.warmup = warmup;
          training.seed = seed;
          runs.push_back(
              {.name = run_name(placement, warmup, rate, seed),
               .seconds = options.budget == Budget::quick ? 4.0 : 29.0,
               .measure = [corpus, training] { return train_and_translate(corpus->get(), training); }});
        }
  for (StudyRun& run : long_runs({options, {}, 0}).runs) runs.push_back(std::move(run));
  return runs;
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  const auto baseline = [&](const char* placement) {
    return mean(finite(best_of(results, grid.search(placement, grid.warmups.back())).values));
  };
  for (const auto& [name, placement] : {std::pair("post", "Post-LN"), std::pair("pre", "Pre-LN")}) {
    const Search cold = grid.search(placement, 0);
    const Found with = best_of(results, grid.search(placement, grid.warmups.back()));
    std::vector<double> same;  // without warm-up, at the rates that are best with warm-up
    for (std::size_t s = 0; s < with.rates.size(); ++s)
      same.push_back(results.number(cold.run(with.rates[s], cold.seeds[s]), "bleu"));
    all[std::string(name) + "-same"] = bleu_ratios(same, with.values);
    all[std::string(name) + "-ratio"] = bleu_ratios(best_of(results, cold).values, with.values);
    for (const char* what : {"-same", "-ratio"})
      all.object(std::string(name) + what, baselines_differ(baseline("Post-LN"), baseline("Pre-LN")));
  }
  add_long_figures(all, results);
  return all;
}

}  // namespace gradus::lab::translation

namespace gradus::lab {

Study translation_study() {
  return {
      .name = "translation",
      .title = "Translation",
      .question = "Can a Transformer learn to translate without warm-up?",
      .setting =
          "Transformers with 6 blocks in the encoder and 6 in the decoder, 64 channels, Xavier weights, "
          "Pre-LN and Post-LN, German to English on Multi30k's pairs of at most 16 tokens: 800 steps of 512 "
          "tokens, Adam (0.9, 0.98), label smoothing 0.1, no dropout, no clipping, a rate of 0.001 or 0.003 "
          "that falls linearly to 0, with 200 steps of linear warm-up or none; 6 seeds. Readout: BLEU of "
          "greedy translations of 200 test sentences, paired within a seed, whose rate is the one that is "
          "best on the other seeds. Longer training: 4000 steps, warm-up of 1000; for each placement, "
          "without and with warm-up, rates 0.0001 to 0.01, half a decade apart, and beyond where the best "
          "is the first or last (0.00003 to 0.03), all five on one seed, the best three on a second and two "
          "on a third; six other seeds judge.",
      .scope = "Multi30k, width 64, 6 + 6 blocks, 800 steps, Xavier weights",
      .plan = translation::plan,
      .figures = translation::figures,
      .report = translation::report,
      .data = "a folder with train.de, train.en, test.de and test.en, each plain or .gz, such as Multi30k's",
      .files = translation::files_in,
      .next = translation::long_runs};
}

}  // namespace gradus::lab
