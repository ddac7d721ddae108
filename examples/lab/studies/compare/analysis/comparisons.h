#pragma once
// Two placements, question by question, each put to the seeds (statistics.h says how and why).

#include <array>
#include <string>
#include <vector>

#include "lab/studies/compare/analysis/analysis.h"

namespace gradus::lab::compare {

struct Comparison {
  std::string about;  // "sensitivity with 12 layers, without warm-up: Post-LN - Pre-LN", for summary.json
  std::vector<double> values;  // one a seed
  Difference difference;       // of them
  double p = 1;                // of the sign test, corrected for the number of questions of its kind
  /// Told from chance.
  bool clear() const { return p < kLevel; }
};

/// Of the first placement and of the second.
template <class T>
using ForEach = std::array<T, 2>;

/// Two placements at one depth, each seed at its own best rate and warm-up: nothing is chosen on one seed and
/// judged on another, and both have had the same number of tries.
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

  /// The question asked first, so that it needs no correction: on how many settings more did the first learn?
  Comparison learned;
  // All others share Holm's correction.
  Comparison loss;                  // mean over settings, second - first
  std::vector<BestOfDepth> best;    // depths for which a seed has finished all settings
  std::vector<Comparison> deepest;  // sensitivity at the largest depth, shortest warm-up; one or none
  std::vector<AblationChange> ablations;

  /// How many share the correction.
  std::size_t others() const { return 1 + best.size() + deepest.size() + ablations.size(); }
};

Comparisons comparisons_of(const Analysis& analysis);

}  // namespace gradus::lab::compare
