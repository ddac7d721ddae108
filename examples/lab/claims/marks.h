#pragma once
// The sign and the colour of each verdict on a page. A colour is never the only mark: sign and word say the same.
//
//   signed_verdict(judged)     "✓ holds", "✗ false in 2, unclear in 1 of 3"
//   coloured_verdict(judged)   the same for kit::HtmlReport: "{blue:✓ holds}"

#include <string>
#include <vector>

#include "lab/claims/ledger.h"

namespace gradus::lab {

struct Mark {
  std::string verdict;  // JudgedClaim::head(); empty: any other
  std::string sign;
  std::string colour;  // of kit::HtmlReport's markup
  std::string meaning;
};

/// All, in the order of a legend.
const std::vector<Mark>& marks();
const Mark& mark_of(const JudgedClaim& judged);
const Mark& mark_of(Judgement judgement);

std::string signed_verdict(const JudgedClaim& judged);
std::string coloured_verdict(const JudgedClaim& judged);
/// A measure's outcome next to its prediction: "✓ yes, as predicted", "✗ no; predicted: yes".
std::string signed_outcome(const Judged& judged);
std::string coloured_outcome(const Judged& judged);

/// "; as predicted in 3 of 4", counting measures with a prediction that are decided; empty if there is none.
std::string describe_predictions(const JudgedClaim& judged);

/// "✓ holds, ◐ holds only in places, ..."
std::string signed_legend();
std::string coloured_legend();

}  // namespace gradus::lab
