#pragma once
// The outcome in sentences. Each depends on the numbers: the opposite result gives the opposite sentence, an
// unclear one says that it is unclear.

#include <string>
#include <vector>

#include "lab/studies/compare/analysis/comparisons.h"

namespace gradus::lab::compare {

struct Verdict {
  std::string sentence;               // one line, which the program also prints last
  std::vector<std::string> findings;  // the facts behind it
  Comparisons comparisons;
};

/// Seeds are counted, not runs: comparisons.h has the questions, statistics.h the test.
Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation);

/// Best rates that are the lowest or the highest tried, so better ones may lie outside: "with 12 layers
/// Post-LN's is the lowest, 0.001, in 6 of 6 seeds". Empty where there are none, or fewer than three rates.
std::vector<std::string> best_rates_at_the_edge(const Settings& settings, const Comparisons& comparisons);

/// The findings alone; an empty list when there is nothing to say.
std::vector<std::string> findings_of(const Analysis& analysis, const Comparisons& comparisons,
                                     const std::optional<Initialisation>& initialisation);

}  // namespace gradus::lab::compare
