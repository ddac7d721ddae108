#pragma once
// Numbers drawn from the runs: cells of the grid, sensitivities, best settings.

#include "lab/statistics/statistics.h"
#include "lab/studies/compare/analysis/results.h"

namespace gradus::lab::compare {

/// The loss below which a run counts as one that learned. In the recall language, which requires looking
/// back, it is that of the best n-gram tried. On a text file n-grams are far stronger than runs as short as
/// these: there it is the lowest loss of a prediction that ignores the context, the frequencies of single
/// characters (n = 1).
struct Baseline {
  int n = 0;
  double loss = 0;
  /// "the 3-gram baseline"
  std::string label() const;
};

Baseline baseline_of(const TaskFacts& task);

/// All seeds of one setting that have finished.
struct Cell {
  RunOptions setting;  // without the seed
  std::vector<RunRecord> runs;
  /// By run: its final loss, or that of the start where the run diverged or ended above it (the min(loss,
  /// loss at start) of Wortsman et al.), so a single diverged run cannot dominate the others.
  std::vector<double> losses;
  Spread loss = spread_of({});  // of `losses`
  std::vector<double> steps;    // by run: steps to the target loss, NaN when it was not reached
  std::vector<bool> learned;    // by run: it ended below the baseline
  std::int64_t diverged = 0;    // runs that diverged
  bool any() const { return !runs.empty(); }
  std::int64_t learned_count() const;
  /// The place of a seed's run.
  std::optional<std::size_t> run_of(std::uint64_t seed) const;
};

/// Learning-rate sensitivity of Wortsman et al. 2023 (2309.14322): the mean over rates of min(loss, loss at
/// start), minus the loss at the best rate. 0 would mean a model that is insensitive to the rate.
struct Sensitivity {
  nn::Placement placement;
  std::int64_t layers = 0;
  std::int64_t warmup = 0;
  std::vector<std::uint64_t> seeds;  // those with all rates finished
  std::vector<double> values;        // one per seed
  Spread spread;
};

struct Best {
  double loss = 0;
  double lr = 0;  // of several equally good ones, one inside the grid
};

struct Analysis {
  TaskFacts task;
  Settings settings;
  Baseline baseline;
  std::vector<Cell> grid;       // depth x rate x warm-up x placement, in the order of the plan
  std::vector<Cell> ablations;  // final norm added or removed, residual scaling: by placement
  std::vector<Sensitivity> sensitivities;
  double target = 0;  // of Cell::steps
  std::size_t planned = 0, finished = 0;

  const Cell& cell(const nn::Placement& placement, std::int64_t layers, double lr, std::int64_t warmup) const;
  const Sensitivity& sensitivity(const nn::Placement& placement, std::int64_t layers,
                                 std::int64_t warmup) const;
  /// Those of the plan.
  std::vector<std::uint64_t> seeds() const;
  /// The lowest loss of a seed with this placement and depth, over rates and warm-ups; nothing until all of
  /// these have finished.
  std::optional<Best> best(const nn::Placement& placement, std::int64_t layers, std::uint64_t seed) const;
  /// The zero point of loss axes: the entropy where it is known, otherwise 0.
  double floor() const { return task.entropy.value_or(0); }
};

Analysis analyse(const Results& results);

/// Differences b - a between runs of the same seed.
std::vector<double> paired(const Cell& a, const Cell& b);
std::vector<double> paired(const Sensitivity& a, const Sensitivity& b);

}  // namespace gradus::lab::compare
