#pragma once
// The parts of the study `text-variants`: stacks whose norms differ, on real text, each at the kind of
// initial weights and the rate that are best for it. Some seeds search, others judge.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/nn/nn.h"
#include "lab/study/halving.h"
#include "lab/study/study.h"

namespace gradus::lab::text_variants {

struct Stack {
  std::string name;   // in names of runs: "rms-pre"
  std::string title;  // on pages: "Pre-LN with RMSNorm"
  nn::Placement placement;
  std::optional<bool> final_norm = {};  // not given: the placement's own
  nn::MakeNorm norm = nn::make_norm<nn::LayerNorm>;
  bool each_scheme = false;  // judged at every kind of initial weights, not only at its best
};
/// Pre-LN, Post-LN and the wrong blocks of the study `blocks`; both with RMSNorm; none.
const std::vector<Stack>& stacks();
/// Throws if there is none of that name.
const Stack& stack_named(const std::string& name);

struct Grid {
  std::int64_t layers = 0, steps = 0, warmup = 0;
  std::vector<std::string> schemes;  // the kinds of initial weights (weights.h)
  std::vector<double> ladder;        // of rates, rising
  std::size_t first = 0, last = 0;   // indices in the ladder: the rates each search begins with
  std::vector<std::uint64_t> searching, judging;
  std::vector<std::size_t> kept;
  std::vector<std::uint64_t> floor;  // the judging seeds of kLonger

  std::int64_t shorter() const { return steps * 4 / 5; }
  std::int64_t longer() const { return 4 * steps; }
};
Grid grid_of(const StudyOptions& options);

// Pre-LN at its best is trained for other numbers of steps, too; in names of runs:
//   shorter   with a fifth fewer steps, on the judging seeds: the control, a difference that must be visible
//   longer    with four times as many: its loss is possible on this text, whose entropy is unknown
inline constexpr const char* kShorter = "shorter";
inline constexpr const char* kLonger = "longer";
/// "rms-pre-fan_in-lr0.004-s3400"
std::string run_name(const std::string& stack, const std::string& scheme, double rate, std::uint64_t seed);

/// The searches of a stack, one for each kind of initial weights, and their results so far.
class Found {
 public:
  Found(const StudyResults& results, const Grid& grid, const Stack& stack);

  const Stack& stack() const { return stack_; }
  const Searched& searched(std::size_t scheme) const { return searched_[scheme]; }
  /// The kind of initial weights with the lowest mean loss on the searching seeds, each at its chosen rate.
  /// Nothing before all searches have ended.
  std::optional<std::size_t> best() const;
  /// The kinds whose chosen rate is run on the judging seeds.
  std::vector<std::size_t> judged() const;
  /// Chosen for a kind; only after all searches have ended.
  double rate(std::size_t scheme) const { return grid_.ladder[searched_[scheme].chosen->rate]; }

  /// A number of the judging seeds at the chosen rate, in their order; NaN where a run has not finished.
  std::vector<double> numbers(std::size_t scheme, const std::string& name) const;
  std::vector<double> losses(std::size_t scheme) const { return numbers(scheme, "loss"); }
  /// The losses of kShorter or kLonger at the best design, on these seeds.
  std::vector<double> losses_of(const char* length, const std::vector<std::uint64_t>& seeds) const;

 private:
  std::vector<double> numbers_of(const std::string& stack, std::size_t scheme,
                                 const std::vector<std::uint64_t>& seeds, const std::string& name) const;

  const StudyResults& results_;
  const Grid& grid_;
  const Stack& stack_;
  std::vector<Searched> searched_;  // by kind of initial weights
};
std::vector<Found> all_found(const StudyResults& results, const Grid& grid);

/// Losses on the validation set that are the same in all runs; nothing before the first has finished.
struct Baselines {
  double context_free = 0;  // of predicting without context: a run that ends there or above has failed
  double bigram = 0;        // a run that ends below it trains
};
std::optional<Baselines> baselines_of(const StudyResults& results);

/// Largest minus smallest loss over the kinds of initial weights, seed by seed; NaN where one is. Failed runs
/// are left out if `context_free` is given.
std::vector<double> spread_of_schemes(const Found& found, std::size_t schemes,
                                      std::optional<double> context_free);

// The margins of the claims, which the controls must exceed.
inline constexpr double kMargin = 0.02, kSpreadMargin = 0.05;

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::text_variants
