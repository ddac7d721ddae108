// The search for Post-LN's largest stable rate, the runs that judge it, and their figures.

#include "lab/studies/update_size/stable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/nn/placements/placements.h"
#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/study/halving.h"
#include "lab/training/trial.h"

namespace gradus::lab::update_size {

namespace {

// The searching and judging seeds are used by no other runs of the study: those are first, first + 1, ...
constexpr std::uint64_t kSearching = 170, kJudging = 280;
const char* const kPost = "Post-LN";

double run_seconds(const StableGrid& grid) { return 1.75e-3 * static_cast<double>(grid.layers * grid.steps); }

StudyRun rate_run(const StableGrid& grid, const std::string& placement, double lr, std::uint64_t seed,
                  std::uint64_t round) {
  return {.name = rate_name(placement, lr, seed),
          .seconds = run_seconds(grid),
          .round = round,
          .measure = [placement, lr, seed, layers = grid.layers,
                      steps = grid.steps] { return measure_rate(placement, lr, seed, layers, steps); },
          .group = "rate"};
}

/// Of a climb over about six rates, and the judged runs.
double expected_runs(const StableGrid& grid) {
  const std::size_t rates = std::min<std::size_t>(grid.ladder.size(), 6);
  return static_cast<double>(rates * grid.searching.size() + (2 + kControls.size()) * grid.judging.size());
}

/// NaN in place of the values of runs that failed or have not finished.
std::vector<double> of_surviving(std::vector<double> values, const std::vector<double>& losses) {
  for (std::size_t s = 0; s < values.size(); ++s)
    if (!survives(losses[s])) values[s] = kit::nothing;
  return values;
}

/// log10 of a over b, seed by seed.
std::vector<double> log_ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t s = 0; s < a.size(); ++s) ratios.push_back(std::log10(a[s] / b[s]));
  return ratios;
}

/// Whether runs survive, one number for each that has finished.
std::vector<double> survivals(const std::vector<double>& losses) {
  std::vector<double> all;
  for (const double loss : finite(losses)) all.push_back(survives(loss) ? 1 : 0);
  return all;
}

std::int64_t count_of(const std::vector<double>& survived) {
  return std::count(survived.begin(), survived.end(), 1.0);
}

/// Post-LN at its largest stable rate and a control at the rate at which Post-LN fails.
void add_control(Figures& all, const StudyResults& results, const StableGrid& grid, double stable,
                 double failing, const std::string& control) {
  const auto post = [&](const char* number) { return judged_numbers(results, grid, kPost, stable, number); };
  const auto other = [&](const char* number) {
    return judged_numbers(results, grid, control, failing, number);
  };
  const std::string word = name_of(nn::placement_named(control)), update = "stable.update." + word;
  for (const double one : survivals(other("loss"))) keep(all, "stable.survives." + word, one);
  const std::vector<double> ratios = finite(
      log_ratios(of_surviving(post("update"), post("loss")), of_surviving(other("update"), other("loss"))));
  for (const double ratio : ratios) keep(all, update, ratio);
  all.object(update, failed_runs(ratios.size(), paired_difference(post("loss"), other("loss")).size()));
  for (const double ratio : log_ratios(post("gradient"), other("gradient")))
    keep(all, "stable.gradient." + word, ratio);
}

}  // namespace

StableGrid stable_grid_of(const StudyOptions& options) {
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  StableGrid grid{.ladder = {1e-4, 1.8e-4, 3e-4, 5.6e-4, 1e-3, 1.8e-3, 3e-3, 5.6e-3, 1e-2, 1.8e-2, 3e-2},
                  .searching = seeds(kSearching, per_budget<std::int64_t>(options.budget, 1, 2, 5)),
                  .judging = seeds(kJudging, per_budget<std::int64_t>(options.budget, 1, 3, 12))};
  if (options.budget != Budget::quick) return grid;
  grid.layers = 6, grid.steps = 40;
  grid.ladder = {1e-3, 3e-2};
  return grid;
}

bool survives(double loss) {
  static const double without_context = recall_task().context_free_loss();
  return loss < without_context;
}

std::string rate_name(const std::string& placement, double lr, std::uint64_t seed) {
  return fmt::format("rate-{}-lr{:g}-s{}", placement, lr, seed);
}

Climbed climb_of(const StudyResults& results, const StableGrid& grid) {
  return climb(grid.ladder.size(), grid.searching,
               [&](std::size_t rate, std::uint64_t seed) -> std::optional<bool> {
                 const std::string run = rate_name(kPost, grid.ladder[rate], seed);
                 if (!results.has(run)) return std::nullopt;
                 return survives(results.number(run, "loss"));
               });
}

std::vector<double> judged_numbers(const StudyResults& results, const StableGrid& grid,
                                   const std::string& placement, double lr, const std::string& number) {
  return Runs(results, grid.judging, [&](std::uint64_t seed) { return rate_name(placement, lr, seed); })
      .by_seed(number);
}

Following stable_runs(const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  check_apart(grid.searching, grid.judging);
  const Climbed climbed = climb_of(results, grid);
  Following following;
  for (const Climbed::Run& run : climbed.runs)
    following.runs.push_back(rate_run(grid, kPost, grid.ladder[run.rate], run.seed, 1));
  if (climbed.stable && climbed.failing)
    for (const std::uint64_t seed : grid.judging) {
      for (const std::size_t rate : {*climbed.stable, *climbed.failing})
        following.runs.push_back(rate_run(grid, kPost, grid.ladder[rate], seed, 2));
      for (const char* control : kControls)
        following.runs.push_back(rate_run(grid, control, grid.ladder[*climbed.failing], seed, 2));
    }
  const double later = expected_runs(grid) - static_cast<double>(following.runs.size());
  following.seconds_later = std::max(0.0, later) * run_seconds(grid);
  return following;
}

void add_stable_figures(Figures& figures, const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  const Climbed climbed = climb_of(results, grid);
  std::vector<std::string> ids = {"stable.fails"};
  for (const char* control : kControls)
    for (const char* what : {"survives", "update", "gradient"})
      ids.push_back(fmt::format("stable.{}.{}", what, name_of(nn::placement_named(control))));
  for (const std::string& id : ids) figures.object(id, end_of_search(climbed.at_edge(), kPost));
  if (!climbed.stable || !climbed.failing) return;
  const double stable = grid.ladder[*climbed.stable], failing = grid.ladder[*climbed.failing];
  // "It fails" needs a control: Post-LN itself at the lower rate.
  const std::vector<double> works = survivals(judged_numbers(results, grid, kPost, stable, "loss"));
  if (!works.empty())
    figures.object("stable.fails", no_control(count_of(works), std::ssize(works),
                                              fmt::format("Post-LN at rate {}", kit::number_text(stable))));
  for (const double survived : survivals(judged_numbers(results, grid, kPost, failing, "loss")))
    keep(figures, "stable.fails", 1 - survived);
  for (const char* control : kControls) add_control(figures, results, grid, stable, failing, control);
}

}  // namespace gradus::lab::update_size
