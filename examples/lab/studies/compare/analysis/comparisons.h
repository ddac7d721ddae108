#pragma once
// Two placements compared question by question, each answered by the seeds (see statistics.h).

#include <array>
#include <string>
#include <vector>

#include "lab/studies/compare/analysis/analysis.h"

namespace gradus::lab::compare {

struct Comparison {
  std::string about;  // "sensitivity with 12 layers, without warm-up: Post-LN - Pre-LN", for summary.json
  std::vector<double> values;  // one per seed
  Difference difference;       // of them
  double p = 1;                // of the sign test, corrected for the number of questions of its kind
  /// Whether the difference is significant.
  bool clear() const { return p < kLevel; }
};

/// A value for the first placement and one for the second.
template <class T>
using ForEach = std::array<T, 2>;

/// Two placements at one depth, each seed at its own best rate and warm-up: nothing is chosen on one seed and
/// judged on another, and both had the same number of tries.
struct BestOfDepth {
  std::int64_t layers = 0;
  ForEach<double> loss = {};           // mean over seeds of the best one
  Comparison comparison;               // second - first
  ForEach<std::vector<double>> rates;  // the best rate of each seed
};

struct AblationChange {
  RunOptions setting;
  Comparison comparison;  // with the change - without
};

struct Comparisons {
  std::int64_t pairs = 0;  // pairs of runs that differ in placement only, over all settings and seeds
  ForEach<std::int64_t> runs_learned = {};

  /// The first question, which needs no correction: on how many more settings did the first placement learn?
  Comparison learned;
  // All others share Holm's correction.
  Comparison loss;                  // mean over settings, second - first
  std::vector<BestOfDepth> best;    // depths at which a seed has finished all settings
  std::vector<Comparison> deepest;  // sensitivity at the largest depth, shortest warm-up; one or none
  std::vector<AblationChange> ablations;

  /// The number of comparisons that share the correction.
  std::size_t others() const { return 1 + best.size() + deepest.size() + ablations.size(); }
};

Comparisons comparisons_of(const Analysis& analysis);

}  // namespace gradus::lab::compare
