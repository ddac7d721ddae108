#include "docs/draw/practice.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using gradus::lab::Figures;
using gradus::lab::JudgedClaim;

const std::vector<double> kAbove = {0.2, 0.21, 0.19, 0.2, 0.2}, kBelow = {-0.2, -0.21, -0.19, -0.2, -0.2};

/// The ledger with figures for one claim.
std::vector<JudgedClaim> ledger_with(int number, const Figures& figures) {
  std::vector<JudgedClaim> ledger;
  for (const gradus::lab::Claim& claim : gradus::lab::claims()) {
    ledger.push_back(gradus::lab::judge(claim, claim.number == number ? figures : Figures{}));
    ledger.back().scope = "width 32";
  }
  return ledger;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("without a measurement every question of practice says so, and names its claims") {
  const std::string text = gradus::docs::practice(ledger_with(0, {}));
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(says(text,
             "1. **Does Pre-LN end lower than Post-LN?** \u2013 not measured: "
             "[claim 62](claims.md#claim-62), [claim 55](claims.md#claim-55) and [claim "
             "18](claims.md#claim-18).\n"));
  CHECK(says(text, "5. **"));
}

TEST_CASE("an answer of practice has outcome, figure, interval and scope, and follows the measurement") {
  const auto first = [](int claim, const Figures& figures) {
    const std::string text = gradus::docs::practice(ledger_with(claim, figures));
    return text.substr(0, text.find('\n'));
  };
  const std::string up = first(55, {{"best.L4", kAbove}, {"best.L12", kBelow}});
  CHECK(says(up, "\u2713 yes (4 layers): 0.2 (0.18"));
  CHECK(says(up, "; \u2717 no (12 layers): \u22120.2 (\u2212"));
  CHECK(says(up, "; scope: width 32; [claim 55](claims.md#claim-55)."));
  CHECK(
      says(first(55, {{"best.L12", kAbove}}), "\u2013 not measured (4 layers); \u2713 yes (12 layers): 0.2"));
  // A claim with fewer conditions comes first once it is measured.
  CHECK(says(first(62, {{"best.L12", kAbove}}), "[claim 62](claims.md#claim-62)."));
  Figures refused = {{"best.L4", kAbove}, {"best.L12", kAbove}};
  refused.object("best.L12",
                 gradus::lab::Objection{gradus::lab::Judgement::not_measured, "it trains nowhere"});
  CHECK(says(first(55, refused), "\u2013 not measured: it trains nowhere (12 layers)"));
}
