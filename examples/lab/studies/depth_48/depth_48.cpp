// The plan of the study `depth-48`, the choice of a design, and what the ledger takes from it.

#include "lab/studies/depth_48/depth_48.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradus/nn/placements/placements.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab {

namespace depth_48 {

namespace {

constexpr std::int64_t kBatch = 8;

Measured measure(const Grid& grid, std::size_t placement, const Design& design, std::uint64_t seed) {
  const TrialOptions options{.placement = nn::placement_named(kPlacements[placement]),
                             .layers = grid.layers,
                             .lr = design.lr,
                             .warmup = design.warmup,
                             .steps = grid.steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(recall_task(), options);
  return outcome_of(train(recall_task(), model, options), 22);
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (std::size_t placement = 0; placement < kPlacements.size(); ++placement)
      for (const Design& design : grid.designs())
        runs.push_back({.name = run_name(placement, design, seed),
                        .seconds = 7e-4 * static_cast<double>(grid.layers * grid.steps),
                        .measure = [=] { return measure(grid, placement, design, seed); }});
  return runs;
}

bool is_among(const Design& design, Among among) {
  return among == Among::all || (design.warmup == 0) == (among == Among::cold);
}

struct Search {
  std::vector<Design> designs;
  Losses losses;
};

Search search_of(const StudyResults& results, std::size_t placement, Among among) {
  const Grid grid = grid_of(results.options);
  Search search;
  for (const Design& design : grid.designs()) {
    if (!is_among(design, among)) continue;
    search.designs.push_back(design);
    std::vector<double>& row = search.losses.emplace_back();
    for (const std::uint64_t seed : grid.seeds)
      row.push_back(results.number(run_name(placement, design, seed), "loss"));
  }
  return search;
}

/// The least mean loss; `left_out` may be past the last seed. Of several that are as good, the first.
std::optional<std::size_t> best_of(const Losses& losses, std::size_t left_out) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    double sum = 0;
    for (std::size_t seed = 0; seed < losses[i].size(); ++seed) {
      if (std::isnan(losses[i][seed])) return std::nullopt;
      if (seed != left_out) sum += losses[i][seed];
    }
    if (!best || sum < least) best = i, least = sum;
  }
  return best;
}

void add(Figures& figures, const std::string& id, std::optional<double> value) {
  if (value) figures[id].push_back(*value);
}

std::optional<double> difference(const std::optional<Choice>& a, const std::optional<Choice>& b) {
  return a && b ? std::optional(a->loss - b->loss) : std::nullopt;
}

}  // namespace

std::vector<Design> Grid::designs() const {
  std::vector<Design> all;
  for (const std::int64_t warmup : warmups)
    for (const double lr : lrs) all.push_back({warmup, lr});
  return all;
}

Grid grid_of(const StudyOptions& options) {
  // Quick is a search at 8 layers: it shows how the study works and measures nothing of the ledger.
  if (options.budget == Budget::quick)
    return {.layers = 8,
            .steps = 200,
            .warmups = {0, 40},
            .lrs = {1e-3, 3e-3},
            .seeds = seeds_from(options.seed, 3)};
  const bool full = options.budget == Budget::full;
  // Nine designs and eight seeds: with six measures an interval of five seeds reaches two standard deviations
  // to either side, one of eight 1.3.
  return {.steps = 400,
          .warmups = {0, 40, 160},
          .lrs = {3e-4, 1e-3, 3e-3},
          .seeds = seeds_from(options.seed, full ? 8 : 3)};
}

std::string run_name(std::size_t placement, const Design& design, std::uint64_t seed) {
  return fmt::format("{}-w{}-lr{}-s{}", kWords[placement], design.warmup, design.lr, seed);
}

std::optional<std::size_t> best_without(const Losses& losses, std::size_t left_out) {
  if (losses.empty() || losses[0].size() < 2) return std::nullopt;
  return best_of(losses, left_out);
}

std::optional<Choice> chosen(const StudyResults& results, std::size_t placement, Among among,
                             std::uint64_t seed) {
  const auto place = static_cast<std::size_t>(seed - results.options.seed);
  const Search search = search_of(results, placement, among);
  const std::optional<std::size_t> best = best_without(search.losses, place);
  if (!best) return std::nullopt;
  return Choice{search.designs[*best], search.losses[*best][place]};
}

std::optional<Design> own_best(const StudyResults& results, std::size_t placement, std::uint64_t seed) {
  const auto place = static_cast<std::size_t>(seed - results.options.seed);
  const Search search = search_of(results, placement, Among::all);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < search.losses.size(); ++i) {
    if (std::isnan(search.losses[i][place])) return std::nullopt;
    if (!best || search.losses[i][place] < search.losses[*best][place]) best = i;
  }
  if (search.losses[*best][place] >= learned_loss()) return std::nullopt;
  return search.designs[*best];
}

std::optional<Design> answer(const StudyResults& results, std::size_t placement) {
  const Search search = search_of(results, placement, Among::all);
  const std::optional<std::size_t> best = best_of(search.losses, search.losses[0].size());
  return best ? std::optional(search.designs[*best]) : std::nullopt;
}

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  if (results.options.budget == Budget::quick) return all;
  for (const std::uint64_t seed : grid.seeds) {
    for (std::size_t placement = 0; placement < kPlacements.size(); ++placement) {
      const std::string& word = kWords[placement];
      add(all, "gain." + word,
          difference(chosen(results, placement, Among::cold, seed),
                     chosen(results, placement, Among::warm, seed)));
      if (const auto choice = chosen(results, placement, Among::all, seed))
        all["above-ngram." + word].push_back(choice->loss - learned_loss());
    }
    const auto pre = own_best(results, 0, seed), post = own_best(results, 1, seed);
    if (!pre || !post) continue;
    all["longer"].push_back(static_cast<double>(post->warmup - pre->warmup) /
                            static_cast<double>(grid.steps));
    all["lower-rate"].push_back(std::log10(pre->lr / post->lr));
  }
  return all;
}

}  // namespace depth_48

Study depth_48_study() {
  return {
      .name = "depth-48",
      .title = "A warm-up for 48 layers",
      .question = "How would one design a warm-up for 48 layers, for each placement?",
      .setting =
          "GPTs of 48 blocks and width 32, Pre-LN and Post-LN with the same matrices at the start, "
          "N(0, 1/fan_in), on the recall language: 400 steps of 8 lines, Adam, no clipping; nine designs, no "
          "warm-up or 40 or 160 steps of a linear one, to a rate of 0.0003, 0.001 or 0.003 that then stays; "
          "8 seeds. Readout: the loss on the validation set (nats per character), paired within a seed, "
          "which is judged at the design that is best on the other seeds; the best design of a seed alone "
          "where designs are compared.",
      .scope = "recall language, width 32, 400 steps, N(0, 1/fan_in)",
      .plan = depth_48::plan,
      .figures = depth_48::figures,
      .report = depth_48::report};
}

}  // namespace gradus::lab
