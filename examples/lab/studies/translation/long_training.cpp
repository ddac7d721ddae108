// The searches of longer training, the runs that judge them, and their figures.

#include "lab/studies/translation/long_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/translation/translation.h"

namespace gradus::lab::translation {

namespace {

// The searching and judging seeds are used by no other runs of the study: those are first, first + 1, ...
constexpr std::uint64_t kSearching = 170, kJudging = 280;

Searched search_of(const StudyResults& results, const LongGrid& grid, const std::string& placement,
                   std::int64_t warmup) {
  return search(grid.halving, [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
    const std::string run = long_name(placement, warmup, grid.halving.ladder[setting.rate], seed);
    if (!results.has(run)) return std::nullopt;
    return -results.number(run, "bleu");
  });
}

StudyRun long_run(const StudyOptions& options, const LongGrid& grid, const std::string& placement, bool warm,
                  double rate, std::uint64_t seed, std::uint64_t round) {
  TrainOptions training = grid.training;
  training.placement = nn::placement_named(placement);
  training.lr = rate;
  training.warmup = warm ? grid.warmup : 0;
  training.seed = seed;
  return {.name = long_name(placement, training.warmup, rate, seed),
          .seconds = grid.seconds,
          .round = round,
          .measure = [corpus = corpus_of(options.data, grid.selection),
                      training] { return train_and_translate(corpus->get(), training); },
          .group = "long-" + placement};
}

/// Of a placement, if no grid grows and all judged settings differ.
double expected_runs(const LongGrid& grid) {
  const Halving& halving = grid.halving;
  const std::size_t search =
      runs_without_growth(halving.last - halving.first + 1, halving.seeds.size(), halving.kept);
  return static_cast<double>(2 * search + 3 * grid.judging.size());
}

}  // namespace

LongGrid long_grid_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick, full = options.budget == Budget::full;
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  const Grid grid = grid_of(options);
  LongGrid longer{.halving = {.ladder = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2},
                              .first = 1,
                              .last = 5,
                              .seeds = seeds(kSearching, full ? 3 : 1),
                              .kept = {3, 2}},
                  .judging = seeds(kJudging, full ? 6 : 1),
                  .warmup = 1000,
                  .training = grid.training,
                  .selection = grid.selection,
                  .seconds = 125};
  longer.training.steps = 4000;
  if (full) return longer;
  // Other forms only show that it runs.
  longer.halving.ladder = {1e-3, 3e-3};
  longer.halving.first = 0, longer.halving.last = 1;
  longer.training.layers = 1;
  longer.training.steps = 20, longer.warmup = 5;
  longer.seconds = quick ? 0.5 : 1;
  return longer;
}

std::string long_name(const std::string& placement, std::int64_t warmup, double rate, std::uint64_t seed) {
  return "long-" + run_name(placement, warmup, rate, seed);
}

LongTraining::LongTraining(const StudyResults& results, const LongGrid& grid, const std::string& placement)
    : results_(results),
      grid_(grid),
      placement_(placement),
      cold_(search_of(results, grid, placement, 0)),
      warm_(search_of(results, grid, placement, grid.warmup)) {}

std::optional<double> LongTraining::rate(bool warm) const {
  const std::optional<Setting>& chosen = searched(warm).chosen;
  return chosen ? std::optional(grid_.halving.ladder[chosen->rate]) : std::nullopt;
}

std::vector<double> LongTraining::bleu(bool warm, double rate) const {
  return Runs(results_, grid_.judging,
              [&](std::uint64_t seed) { return long_name(placement_, warm ? grid_.warmup : 0, rate, seed); })
      .by_seed("bleu");
}

std::vector<double> LongTraining::bleu_at(bool warm, std::optional<double> rate) const {
  if (rate) return bleu(warm, *rate);
  return std::vector<double>(grid_.judging.size(), std::numeric_limits<double>::quiet_NaN());
}

std::vector<double> LongTraining::with() const { return bleu_at(true, rate(true)); }
std::vector<double> LongTraining::without() const { return bleu_at(false, rate(false)); }
std::vector<double> LongTraining::without_at_same() const { return bleu_at(false, rate(true)); }

Corpus corpus_of(const std::filesystem::path& folder, const Selection& selection) {
  static std::mutex mutex;
  static std::map<std::tuple<std::filesystem::path, std::int64_t, std::int64_t, std::int64_t>, Corpus> all;
  const std::lock_guard lock(mutex);
  Corpus& corpus = all[{folder, selection.vocabulary, selection.longest, selection.test}];
  if (!corpus)
    corpus = std::make_shared<Shared<Sentences>>(
        [folder, selection] { return read_sentences(folder, selection); });
  return corpus;
}

Following long_runs(const StudyResults& results) {
  const LongGrid grid = long_grid_of(results.options);
  check_apart(grid.halving.seeds, grid.judging);
  Following following;
  for (const std::string& placement : kPlacements) {
    const LongTraining training(results, grid, placement);
    const std::size_t before = following.runs.size();
    const auto add = [&](bool warm, double rate, std::uint64_t seed, std::uint64_t round) {
      following.runs.push_back(long_run(results.options, grid, placement, warm, rate, seed, round));
    };
    for (const bool warm : {false, true})
      for (const Searched::Run& run : training.searched(warm).runs)
        add(warm, grid.halving.ladder[run.setting.rate], run.seed, 1);
    const std::optional<double> warm = training.rate(true), cold = training.rate(false);
    for (const std::uint64_t seed : grid.judging) {
      if (warm) add(true, *warm, seed, 2);
      if (warm) add(false, *warm, seed, 2);
      if (cold && cold != warm) add(false, *cold, seed, 2);
    }
    const double later = expected_runs(grid) - static_cast<double>(following.runs.size() - before);
    following.seconds_later += std::max(0.0, later) * grid.seconds;
  }
  return following;
}

void add_long_figures(Figures& figures, const StudyResults& results) {
  const LongGrid grid = long_grid_of(results.options);
  const LongTraining pre(results, grid, "Pre-LN"), post(results, grid, "Post-LN");
  const auto baseline = [](const LongTraining& training) { return mean(finite(training.with())); };
  for (const LongTraining* const training : {&post, &pre}) {
    const char* const name = training == &post ? "post" : "pre";
    const std::string same = fmt::format("{}-same.long", name), ratio = fmt::format("{}-ratio.long", name);
    const auto add = [&](const std::string& id, const std::vector<double>& without) {
      for (const double one : bleu_ratios(without, training->with())) keep(figures, id, one);
    };
    add(same, training->without_at_same());
    add(ratio, training->without());
    for (const std::string& id : {same, ratio}) {
      figures.object(id, baselines_differ(baseline(post), baseline(pre)));
      for (const auto& [title, arm] :
           {std::pair("Post-LN with warm-up", &post), std::pair("Pre-LN with warm-up", &pre)})
        figures.object(id, end_of_search(arm->searched(true).at_edge, title));
    }
    figures.object(ratio, end_of_search(training->searched(false).at_edge,
                                        fmt::format("{} without warm-up",
                                                    name == std::string("post") ? "Post-LN" : "Pre-LN")));
  }
}

}  // namespace gradus::lab::translation
