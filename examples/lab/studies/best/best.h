#pragma once
// The parts of the study `best`: Pre-LN and Post-LN, each at the initial weights, warm-up and rate that are
// best for it. Some seeds search, others judge.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/halving.h"
#include "lab/study/study.h"
#include "lab/training/task.h"

namespace gradus::lab::best {

inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};

/// One side of a comparison: a placement at a depth.
struct Arm {
  std::size_t placement = 0;
  std::int64_t layers = 0;
  /// "post-L24"; "Post-LN, 24 layers".
  std::string name() const, title() const;
};

/// The settings that a search chooses for it.
struct Design {
  std::string scheme;  // the initial weights
  std::int64_t warmup = 0;
  double lr = 0;
  bool operator==(const Design&) const = default;
};

struct Grid {
  std::int64_t steps = 0;
  std::vector<std::int64_t> depths;
  std::vector<std::string> schemes;
  std::array<std::int64_t, 2> warmups;  // none, and some
  std::vector<double> ladder;           // of rates, rising
  std::size_t first = 0, last = 0;      // indices in the ladder: the rates each search begins with
  std::vector<std::uint64_t> searching, judging;
  std::vector<std::size_t> kept;
  std::int64_t deepest_sweep = 24;  // for deeper arms only the best designs are judged
  std::vector<Arm> arms() const;
};
Grid grid_of(const StudyOptions& options);
std::string run_name(const Arm& arm, const Design& design, std::uint64_t seed);

/// The recall language with ten boxes, each of which depends on the two before it: after the last step no
/// model is near its entropy, so models still differ.
const Task& task();
/// As in outcome.h, for this language; the target is half-way from there to the entropy.
double learned_loss();
double target_loss();
/// As in outcomes.h, for this language.
std::vector<double> without_failed(const std::vector<double>& losses);

/// An arm's searches and their results, as far as runs have finished.
class Found {
 public:
  Found(const StudyResults& results, const Grid& grid, const Arm& arm);

  const Arm& arm() const { return arm_; }
  const Searched& searched(std::size_t warmup) const { return searched_[warmup]; }
  Design design(std::size_t warmup, const Setting& setting) const;
  /// The chosen one without or with warm-up.
  std::optional<Design> chosen(std::size_t warmup) const;
  /// The index in Grid::warmups of the better of both.
  std::optional<std::size_t> best() const;
  /// Whether the search of the better one, or of one of both, ended at the edge of its rates.
  bool best_at_edge() const, any_at_edge() const;
  /// At the initial weights and warm-up of the best: the rates of the grid, and those above it as long as
  /// more than half of the judging seeds train at the last one. Empty until the search has ended, and for an
  /// arm that is too deep.
  std::vector<double> sweep() const;
  /// Whether the ladder ended while more than half of the seeds still trained.
  bool sweep_at_edge() const;
  /// All designs that are run on the judging seeds.
  std::vector<Design> judged() const;

  /// A number of the judging seeds, in their order; NaN where a run has not finished.
  std::vector<double> numbers(const Design& design, const std::string& name) const;
  std::vector<double> losses(std::size_t warmup) const;  // at the chosen design, NaN without one
  std::vector<double> best_losses() const;
  /// Of the sweep: [rate][seed].
  std::vector<std::vector<double>> swept(const std::string& name) const;

 private:
  const StudyResults& results_;
  const Grid& grid_;
  Arm arm_;
  std::array<Searched, 2> searched_;
};

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::best
