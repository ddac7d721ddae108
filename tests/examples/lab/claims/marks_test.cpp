#include "lab/claims/marks.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

using namespace gradus::lab;

namespace {

const std::vector<double> kUp = {1.0, 1.1, 0.9, 1.0, 1.0}, kDown = {-1.0, -1.1, -0.9, -1.0, -1.0},
                          kBoth = {1.0, -1.0, 0.5, 0, -0.5}, kFew = {1.0, 1.1, 0.9};

/// Two measures, above 0 if they hold; the first is expected to hold.
Claim two_places(bool disputed = false) {
  const double open = std::numeric_limits<double>::infinity();
  return {.number = 1,
          .text = "x",
          .source = "y",
          .study = "z",
          .measures = {{.id = "a",
                        .where = "2 layers",
                        .what = "difference",
                        .low = 0,
                        .high = open,
                        .prediction = Judgement::holds},
                       {.id = "b", .where = "12 layers", .what = "difference", .low = 0, .high = open}},
          .disputed = disputed};
}

}  // namespace

TEST_CASE("each verdict has a distinct sign, and a colour is never the only mark") {
  const Claim claim = two_places(), disputed = two_places(true);
  CHECK(signed_verdict(judge(claim, {{"a", kUp}, {"b", kUp}})) == "\u2713 holds");
  CHECK(signed_verdict(judge(claim, {{"a", kUp}, {"b", kDown}})) == "\u25D0 holds in 1, false in 1 of 2");
  CHECK(signed_verdict(judge(claim, {{"a", kDown}, {"b", kDown}})) == "\u2717 false");
  CHECK(signed_verdict(judge(disputed, {{"a", kUp}, {"b", kDown}})) ==
        "\u21C4 disputed: holds in 1, not so in 1 of 2");
  CHECK(signed_verdict(judge(claim, {{"a", kBoth}, {"b", kBoth}})) == "? unclear");
  CHECK(signed_verdict(judge(claim, {{"a", kFew}})) == "\u25CB not decided");
  CHECK(signed_verdict(judge(claim, {})) == "\u2013 not measured");
  CHECK(signed_verdict(judge(Claim{.number = 2, .text = "x", .source = "y", .study = ""}, {})) ==
        "\u2013 not testable here");
  CHECK(coloured_verdict(judge(claim, {{"a", kUp}, {"b", kUp}})) == "{blue:\u2713 holds}");
  std::set<std::string> signs, verdicts;
  for (const Mark& mark : marks()) {
    CHECK(signs.insert(mark.sign).second);
    CHECK(verdicts.insert(mark.verdict).second);
    CHECK(signed_legend().find(mark.sign + " " + mark.meaning) != std::string::npos);
    CHECK(coloured_legend().find("{" + mark.colour + ":" + mark.sign) != std::string::npos);
  }
}

TEST_CASE("a prediction is shown next to the outcome") {
  const Claim claim = two_places();
  const auto outcome = [&](const std::vector<double>& values, std::size_t measure = 0) {
    return signed_outcome(judge(claim, {{"a", values}, {"b", values}}).measures[measure]);
  };
  CHECK(outcome(kUp) == "\u2713 yes, as predicted");
  CHECK(outcome(kDown) == "\u2717 no; predicted: yes");
  CHECK(outcome(kBoth) == "? unclear; predicted: yes");
  CHECK(outcome(kFew) == "\u25CB not decided: 3 seeds; predicted: yes");
  CHECK(outcome({}) == "\u2013 predicted: yes");
  CHECK(outcome({}, 1) == "\u2013");
  CHECK(outcome(kUp, 1) == "\u2713 yes");
  CHECK(coloured_outcome(judge(claim, {{"a", kDown}}).measures[0]) == "{orange:\u2717 no; predicted: yes}");
  CHECK(describe_predictions(judge(claim, {{"a", kUp}, {"b", kDown}})) == "; as predicted in 1 of 1");
  CHECK(describe_predictions(judge(claim, {{"a", kDown}})) == "; as predicted in 0 of 1");
  for (const auto& [id, values] : {std::pair("b", kUp), std::pair("a", kFew)})
    CHECK(describe_predictions(judge(claim, {{id, values}})) == "");
}
