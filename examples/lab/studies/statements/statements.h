#pragma once
// The parts of the study `statements`: sentences of teaching texts about where a norm helps, hard tasks,
// early stability and large early steps. Some seeds search for each arm's rate, others judge.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradus/nn/transformer/placement.h"
#include "gradus/optim/schedule.h"
#include "lab/studies/charts.h"
#include "lab/study/halving.h"
#include "lab/study/study.h"
#include "lab/training/task.h"

namespace gradus::lab::statements {

/// Pre-LN; the same with the FFN's norm before its activation, W2 act(LN(W1 x)); the same without the FFN's
/// norm; Post-LN.
inline const std::array<Titled, 4> kBlocks = {{{"pre", "Pre-LN"},
                                               {"hidden", "norm before the activation"},
                                               {"bare", "no norm at the FFN"},
                                               {"post", "Post-LN"}}};
/// Throws for any other name.
nn::Placement placement_of(const std::string& block);

/// Levels of difficulty, fixed before the first run: the number of earlier boxes on which the next one
/// depends. A chain of k has a table of 10^k rows to be learned.
inline constexpr std::array<std::int64_t, 3> kChains = {0, 1, 2};
inline constexpr std::int64_t kHardest = 2;
/// The recall language with ten boxes of five things and this chain; made once.
const Task& task(std::int64_t chain);
/// As in outcome.h, for this language.
double learned_loss(std::int64_t chain);
/// What can be learned from earlier characters: from the loss without context to the entropy (nats).
double learnable(std::int64_t chain);

/// The rate in the first quarter of a run: rising from 0 to r, or constant at r/10, r or 3r. After it, all
/// fall from r to 0 along half a cosine.
enum class Early { warm_up, small, level, large };
inline constexpr std::array<Early, 4> kEarly = {Early::warm_up, Early::small, Early::level, Early::large};
/// "warm-up", "small", "level", "large"
std::string name_of(Early early);
optim::Schedule schedule_of(Early early, double rate, std::int64_t steps);

/// The largest rise of the loss above its lowest earlier value, both as means of `window` losses in a row;
/// NaN for fewer losses than that.
double largest_rise(std::span<const double> losses, std::size_t window = 5);

/// One side of a comparison.
struct Arm {
  std::string block;  // a name of kBlocks
  std::int64_t layers = 0;
  std::int64_t chain = 0;
  /// "pre-L6-c2"; "Pre-LN, 6 layers, chain of 2".
  std::string name() const, title() const;
};

struct Grid {
  std::int64_t steps = 0;
  std::vector<std::int64_t> depths;
  std::vector<double> ladder;       // of rates, rising
  std::size_t first = 0, last = 0;  // indices in the ladder: the rates each search begins with
  std::vector<std::size_t> kept;
  std::vector<std::uint64_t> searching;
  std::uint64_t judging_from = 0;            // the first seed that judges
  std::int64_t judging = 0;                  // seeds of every arm, at its best rate with warm-up
  std::int64_t few = 0, many = 0, deep = 0;  // seeds of other early rates: see seeds_of()
  std::size_t group = 0;                     // seeds of one rank correlation
  std::vector<Arm> arms() const;
  /// The judging seeds of an arm's runs with this early rate: with warm-up in all arms; Pre-LN and Post-LN on
  /// the hardest level also `few` with a small rate and `many` with level and large ones in the first depth,
  /// and `deep` with a level rate in the last one.
  std::vector<std::uint64_t> seeds_of(const Arm& arm, Early early) const;
};
Grid grid_of(const StudyOptions& options);
std::string run_name(const Arm& arm, Early early, double rate, std::uint64_t seed);

/// An arm's search and its results, as far as runs have finished.
class Found {
 public:
  Found(const StudyResults& results, const Grid& grid, const Arm& arm);

  const Arm& arm() const { return arm_; }
  const Searched& searched() const { return searched_; }
  /// The chosen rate r, when the search has ended.
  std::optional<double> rate() const;
  /// A number of the judging seeds, in their order; NaN where a run has not finished.
  std::vector<double> numbers(Early early, const std::string& name) const;
  std::vector<double> losses(Early early = Early::warm_up) const { return numbers(early, "loss"); }
  /// The losses with NaN in place of those of failed runs (outcomes.h).
  std::vector<double> surviving(Early early = Early::warm_up) const;
  /// Training losses of the runs that did not fail.
  std::vector<std::vector<double>> curves(Early early) const;

 private:
  const StudyResults& results_;
  const Grid& grid_;
  Arm arm_;
  Searched searched_;
};

/// All arms of a study.
class Arms {
 public:
  Arms(const StudyResults& results, const Grid& grid);
  const std::vector<Found>& all() const { return all_; }
  const Found& of(const std::string& block, std::int64_t layers, std::int64_t chain = kHardest) const;

 private:
  std::vector<Found> all_;
};

/// Post-LN's loss minus Pre-LN's as a share of learnable(), by judging seed; NaN where a run failed or has
/// not finished.
std::vector<double> relative_gap(const Arms& arms, std::int64_t layers, std::int64_t chain);
/// The least number of surviving runs in a group that has a rank correlation.
inline constexpr std::size_t kLeastPairs = 5;
/// Of consecutive seeds in groups, the rank correlation of x and y in each: of a group's pairs without NaN,
/// if there are kLeastPairs or more, else NaN. Groups with unfinished runs, whose `finished` is NaN, are left
/// out.
std::vector<double> group_correlations(const std::vector<double>& x, const std::vector<double>& y,
                                       const std::vector<double>& finished, std::size_t group);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::statements
