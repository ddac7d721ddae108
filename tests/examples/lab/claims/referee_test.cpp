// The referee's rules, each with figures that break it.
#include "lab/claims/referee.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <list>

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace referee_test {

namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

/// Stays alive, since the results of judge() point to it.
const Claim& claim_of(std::vector<Measure> measures) {
  static std::list<Claim> all;
  return all.emplace_back(
      Claim{.number = 1, .text = "x", .source = "y", .study = "z", .measures = std::move(measures)});
}

const Measure kDifference{.id = "a", .where = "12 layers", .what = "difference", .low = 0.01, .high = kOpen};
const Values kClear = {0.5, 0.6, 0.4, 0.5, 0.5, 0.6};

}  // namespace

TEST_CASE("a search that ends at its edge decides nothing, and the verdict names the arm") {
  Figures figures = {{"a", kClear}};
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "holds");
  figures.object("a", end_of_search(false, "Pre-LN, 12 layers"));
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "holds");
  figures.object("a", end_of_search(true, "Post-LN, 12 layers"));
  const JudgedClaim judged = judge(claim_of({kDifference}), figures);
  CHECK(judged.head() == "not decided");
  CHECK(judged.verdict() == "not decided where: 12 layers (the search ends at its edge: Post-LN, 12 layers)");
  CHECK(judged.measures[0].figure == doctest::Approx(0.5167).epsilon(1e-3));  // still shown
}

TEST_CASE("a band wider than a third of the headroom decides nothing") {
  Figures figures = {{"a", kClear}};
  figures.headroom["a"] = 0.0301;
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "holds");
  figures.headroom["a"] = 0.0299;
  CHECK(describe_outcome(judge(claim_of({kDifference}), figures).measures[0]) == "not decided: saturated");
  Measure closed = kDifference;
  closed.low = -0.01, closed.high = 0.01;  // twice as wide
  figures["a"] = {0, 0.001, -0.001, 0, 0};
  figures.headroom["a"] = 0.0599;
  CHECK(judge(claim_of({closed}), figures).head() == "not decided");
  figures.headroom["a"] = 0.0601;
  CHECK(judge(claim_of({closed}), figures).head() == "holds");
}

TEST_CASE("no interval from fewer than five seeds") {
  const Judged four = judge(claim_of({kDifference}), {{"a", {0.5, 0.5, 0.5, 0.51}}}).measures[0];
  CHECK(describe_outcome(four) == "not decided: 4 seeds");
  CHECK(format_figure(four) == "0.502 (4 seeds)");
  CHECK(judge(claim_of({kDifference}), {{"a", {0.5, 0.5, 0.5, 0.51, 0.5}}}).head() == "holds");
}

TEST_CASE("an arm that trains nowhere is not measured, never false") {
  Figures figures = {{"a", {-0.5, -0.6, -0.5, -0.4, -0.5}}};
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "false");
  figures.object("a", trains_nowhere(Values{2.0, 3.1}, 3, "Post-LN"));  // one run trains
  figures.object("a", trains_nowhere(Values{}, 3, "Post-LN"));          // none has finished
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "false");
  figures.object("a", trains_nowhere(Values{3.0, 3.1, std::nan("")}, 3, "Post-LN"));
  const JudgedClaim judged = judge(claim_of({kDifference}), figures);
  CHECK(judged.head() == "not measured");
  CHECK(describe_outcome(judged.measures[0]) == "not measured: Post-LN trains nowhere");
}

TEST_CASE("failed runs leave seeds out, and too few that are left decide nothing") {
  CHECK(!failed_runs(10, 10));
  CHECK(!failed_runs(5, 10));
  CHECK(!failed_runs(3, 3));  // few seeds, but none failed: judge() says so
  CHECK(failed_runs(4, 10)->judgement == Judgement::not_decided);
  CHECK(failed_runs(4, 10)->why == "failed runs on 6 of 10 seeds");
  CHECK(failed_runs(0, 10)->judgement == Judgement::not_measured);
}

TEST_CASE("an arm that does not reach the target on every seed has no ratio of steps") {
  const double never = std::nan("");
  CHECK(!not_reached(Values{100, 200}, "Post-LN"));
  CHECK(!not_reached(Values{}, "Post-LN"));
  CHECK(not_reached(Values{100, never}, "Post-LN")->judgement == Judgement::not_decided);
  CHECK(not_reached(Values{100, never}, "Post-LN")->why == "Post-LN reaches the target on 1 of 2 seeds");
  CHECK(not_reached(Values{never, never}, "Post-LN")->judgement == Judgement::not_measured);
}

TEST_CASE("a failure needs a control that succeeds") {
  Figures figures = {{"a", kClear}};
  figures.object("a", no_control(6, 10, "Pre-LN"));
  CHECK(judge(claim_of({kDifference}), figures).verdict() == "holds");
  figures.object("a", no_control(5, 10, "Pre-LN"));
  CHECK(describe_outcome(judge(claim_of({kDifference}), figures).measures[0]) ==
        "not measured: no working control: Pre-LN, 5 of 10 seeds");
}

TEST_CASE("a target that no run reaches compares nothing") {
  const double never = std::nan("");
  CHECK(never_reached(Values{never, never}, Values{never})->why == "neither reaches the target");
  CHECK(!never_reached(Values{never, 100}, Values{never}));
  CHECK(!never_reached(Values{never}, Values{100}));
}

TEST_CASE("arms with different baselines are not compared by what a change does to them") {
  CHECK(!baselines_differ(26.2, 26.2));
  CHECK(!baselines_differ(9, 10));  // a tenth of the larger
  CHECK(!baselines_differ(10, 9));
  CHECK(baselines_differ(8.99, 10)->judgement == Judgement::not_decided);
  CHECK(baselines_differ(0, 26.2).has_value());
  CHECK(!baselines_differ(0.927, 1.02));
  CHECK(!baselines_differ(0.7, 1, 0.3));
  CHECK(!baselines_differ(std::nan(""), 26.2));  // no run has finished
  CHECK(!baselines_differ(26.2, std::nan("")));
  Figures figures = {{"a", kClear}};
  figures.object("a", baselines_differ(10.87, 26.17));
  CHECK(judge(claim_of({kDifference}), figures).verdict() ==
        "not decided where: 12 layers (the baselines differ: 10.9 and 26.2)");
}

TEST_CASE("of several objections the first counts") {
  Figures figures = {{"a", kClear}};
  figures.object("a", end_of_search(true, "first"));
  figures.object("a", end_of_search(true, "second"));
  CHECK(figures.objections.at("a").why.ends_with("first"));
}

TEST_CASE("shares have intervals inside 0 to 1") {
  Measure share = kDifference;
  share.estimate = Estimate::mean_logit;
  share.low = 0.5, share.high = 1;
  const Values nearly_one = {1, 0.99, 0.7, 1, 1, 0.98};
  const Judged judged = judge(claim_of({share}), {{"a", nearly_one}}).measures[0];
  CHECK(judged.interval.high < 1);
  CHECK(judged.judgement == Judgement::holds);
  share.estimate = Estimate::mean_t;
  CHECK(judge(claim_of({share}), {{"a", nearly_one}}).measures[0].interval.high > 1);
  CHECK(describe_interval(Estimate::mean_logit, 1) == "95% t interval of logits");
}

TEST_CASE("shares that differ on no seed decide only what so many runs can show") {
  const std::vector<double> none(5, 0), some = {0, 0.25, 0, 0, 0};
  // 1 - 0.025^(1/20) = 0.168
  CHECK(no_difference(none, 4, 0.05)->why == "no difference in 20 pairs of runs leaves up to 0.17 (95%)");
  CHECK(no_difference(none, 4, 0.05)->judgement == Judgement::not_decided);
  CHECK(!no_difference(none, 4, 0.2));
  CHECK(!no_difference(none, 100, 0.05));
  CHECK(!no_difference(some, 4, 0.05));
  CHECK(!no_difference({}, 4, 0.05));
}

TEST_CASE("the p-value of a verdict is the smallest error with which it holds") {
  const Measure above{.id = "a", .where = "", .what = "x", .low = 0, .high = kOpen};
  const Judged judged = judge(claim_of({above}), {{"a", {1, 2, 3, 4, 5}}}).measures[0];
  // Student's t of 3 / (sd / sqrt(5)) = 4.243 with 4 degrees of freedom, two-sided.
  CHECK(p_of(judged) == doctest::Approx(0.01324).epsilon(1e-3));
  const Judged unclear = judge(claim_of({above}), {{"a", {-1, 2, -3, 4, 1}}}).measures[0];
  CHECK(p_of(unclear) == 1);
}

TEST_CASE("in the whole ledger a verdict that chance would produce among so many is unclear") {
  // One measure with p = 0.013 alone keeps its verdict; among 39 that show nothing it does not.
  const Measure above{.id = "a", .where = "", .what = "x", .low = 0, .high = kOpen};
  const Claim one = claim_of({above});
  const JudgedClaim found = judge(one, {{"a", {1, 2, 3, 4, 5}}}),
                    nothing = judge(one, {{"a", {-1, 2, -3, 4, 1}}});
  CHECK(found.head() == "holds");
  CHECK(corrected({found, nothing})[0].head() == "holds");
  std::vector<JudgedClaim> ledger(40, nothing);
  ledger[0] = found;
  CHECK(corrected(ledger)[0].head() == "unclear");
  CHECK(corrected(std::vector<JudgedClaim>(40, found))[39].head() == "holds");
}

TEST_CASE("a prediction is shown next to the outcome") {
  Measure measure = kDifference;
  const Figures figures = {{"a", kClear}};
  const auto words = [&] { return against_prediction(judge(claim_of({measure}), figures).measures[0]); };
  CHECK(words() == "yes");
  measure.prediction = Judgement::holds;
  CHECK(words() == "yes, as predicted");
  measure.prediction = Judgement::fails;
  CHECK(words() == "yes; predicted: no");
  CHECK(against_prediction(judge(claim_of({measure}), {}).measures[0]) == "predicted: no");
}

}  // namespace referee_test
