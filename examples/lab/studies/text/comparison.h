#pragma once
// The searches of the study `text`. Arms with the same choices of initial weights, warm-up and rate are each
// at what was best for them on some seeds, and are compared on others.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/halving.h"
#include "lab/study/study.h"

namespace gradus::lab::real_text {

/// A placement at a depth.
struct Arm {
  std::string word, placement;  // "post" in names of runs; "Post-LN"
  std::int64_t layers = 0;
  // An index in Comparison::warmups: that warm-up is judged even where another one is better.
  std::size_t required = 0;
  std::string title() const;  // "Post-LN, 12 layers"
};

/// The settings that a search chooses for an arm.
struct Design {
  // The initial weights: "gpt2", "small" (the same, with matrices into the stream not scaled down), or
  // "fan_in", the lab's.
  std::string scheme;
  std::int64_t warmup = 0;
  double rate = 0;
  bool operator==(const Design&) const = default;
};

/// Arms that have the same choices.
struct Comparison {
  std::string name;  // the first word of its runs: "best"
  std::vector<Arm> arms = {};
  std::int64_t steps = 0;
  std::vector<std::string> schemes = {};
  std::vector<std::int64_t> warmups = {};  // each has a search of its own
  std::vector<double> ladder = {};         // of rates, rising
  std::size_t first = 0, last = 0;         // indices in the ladder: the rates that each search begins with
  std::vector<std::uint64_t> searching = {}, judging = {};
  std::vector<std::size_t> kept = {};  // as in Halving
  bool drops_layers = false;           // on judging seeds, also measures the model without each layer
};
/// Pre-LN and Post-LN of each depth, without and with warm-up: claims 55 and 56.
Comparison placements_compared(const StudyOptions& options);
/// Pre-LN and layer-norm scaling in deep models: claim 65.
Comparison scaling_compared(const StudyOptions& options);

/// "best-pre-L12-gpt2-w500-lr0.002-s3130"
std::string run_name(const Comparison& comparison, const Arm& arm, const Design& design, std::uint64_t seed);

/// An arm's searches, and its runs on the judging seeds, as far as they have finished. A warm-up is given by
/// its index in Comparison::warmups.
class Choice {
 public:
  /// Both must outlive it.
  Choice(const StudyResults& results, const Comparison& comparison, const Arm& arm);

  const Arm& arm() const { return arm_; }
  const Searched& searched(std::size_t warmup) const { return searched_.at(warmup); }
  Design design(std::size_t warmup, const lab::Setting& setting) const;
  /// What the search with that warm-up chose; nothing before it has ended.
  std::optional<Design> chosen(std::size_t warmup) const;
  /// The warm-up whose search found the lowest loss; nothing before all have ended.
  std::optional<std::size_t> best() const;
  /// The warm-ups whose chosen designs are run on the judging seeds: the required one and the best.
  std::vector<std::size_t> judged() const;

  /// Losses and series at the chosen design, in the order of the judging seeds; NaN, or empty, where a run
  /// has not finished.
  std::vector<double> losses(std::size_t warmup) const;
  std::vector<std::vector<double>> series(std::size_t warmup, const std::string& name) const;

 private:
  const StudyResults& results_;
  const Comparison& comparison_;
  Arm arm_;
  std::vector<Searched> searched_;
};

/// The first runs of all searches.
std::vector<StudyRun> searches_plan(const StudyOptions& options);
/// All runs that the searches and the judging ask for so far.
Following next(const StudyResults& results);

/// A run has failed if it ends here or above: less than 0.1 nats below the loss of predicting without
/// context.
double failed_loss(const StudyResults& results);
/// A run trains if it ends below this, the bigram's loss.
double trained_loss(const StudyResults& results);
/// The losses at a chosen design, NaN where a run failed or has not finished.
std::vector<double> survivors(const StudyResults& results, const Choice& choice, std::size_t warmup);

/// One number per judging seed for each measure of the claims, and the referee's objections.
Figures figures(const StudyResults& results);
/// The parts of the page on these comparisons.
void report_placements(Page& page, const StudyResults& results, const Figures& all);
void report_scaling(Page& page, const StudyResults& results, const Figures& all);

}  // namespace gradus::lab::real_text
