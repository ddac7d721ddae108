#pragma once
// What happened, in sentences. Each is chosen by the numbers: the opposite result gives the opposite
// sentence, an unclear one says that it is unclear.

#include <string>
#include <vector>

#include "lab/analysis/comparisons.h"

namespace gradus::lab {

struct Verdict {
  std::string sentence;               // one line, also the program's last word
  std::vector<std::string> findings;  // what it rests on
  Comparisons comparisons;
};

/// Seeds are counted, not runs: comparisons.h has the questions, statistics.h the test.
Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation);

/// Best rates that are the lowest or the highest tried, so that better ones may lie outside: "with 12 layers
/// Post-LN's is the lowest, 0.001, in 6 of 6 seeds". Empty where there are none, or fewer than three rates.
std::vector<std::string> best_rates_at_the_edge(const LabOptions& options, const Comparisons& comparisons);

/// The findings alone; an empty list when there is nothing to say.
std::vector<std::string> findings_of(const Analysis& analysis, const Comparisons& comparisons,
                                     const std::optional<Initialisation>& initialisation);

/// Whether the gradients of phase 1 go with depth as the upper bounds of Theorem 1 do, and the sizes of
/// activations stay inside those of Lemma 2 (Xiong et al. 2020); of placements they do not speak of, how they
/// go. What random weights of this size make of "about 1" and "about 2" is inside these bands.
std::string start_sentence(const std::vector<InitialState>& states, const Placements& placements);
constexpr double kPostRatioLow = 0.8, kPostRatioHigh = 1.4;
constexpr double kPreRatioLow = 1.6, kPreRatioHigh = 2.5;

}  // namespace gradus::lab
