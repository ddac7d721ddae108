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

/// A difference is called clear when its 95% t-interval over seeds leaves out zero, never otherwise.
Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation);

/// Bands of what random weights of this size make of Theorem 1's "about 1" and "about 2".
constexpr double kPostRatioLow = 0.8, kPostRatioHigh = 1.4;
constexpr double kPreRatioLow = 1.6, kPreRatioHigh = 2.5;

/// Theorem 1 and Lemma 2 of Xiong et al. in the light of phase 1; the depths they need are always measured.
std::string theorem_sentence(const Theorem1& theorem);

}  // namespace gradus::lab
