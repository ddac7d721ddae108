#pragma once
// What happened, in sentences. Each is chosen by the numbers: the opposite result gives the opposite
// sentence, an unclear one says that it is unclear.

#include <string>
#include <vector>

#include "lab/analysis.h"

namespace gradus::lab {

struct Verdict {
  std::string sentence;               // one line, also the program's last word
  std::vector<std::string> findings;  // what it rests on
};

/// A difference of losses is called clear when its 95% t-interval over seeds leaves out zero, one of counts
/// of runs when McNemar's exact test gives p < 0.05.
Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation);

/// The findings alone; an empty list when there is nothing to say.
std::vector<std::string> findings_of(const Analysis& analysis,
                                     const std::optional<Initialisation>& initialisation);

/// Theorem 1 and Lemma 2 of Xiong et al. in the light of phase 1. What random weights of this size make of
/// the theorem's "about 1" and "about 2" is inside these bands.
std::string theorem_sentence(const Theorem1& theorem);
constexpr double kPostRatioLow = 0.8, kPostRatioHigh = 1.4;
constexpr double kPreRatioLow = 1.6, kPreRatioHigh = 2.5;

}  // namespace gradus::lab
