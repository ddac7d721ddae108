#include "lab/claims/ledger.h"

#include <doctest/doctest.h>

#include <limits>
#include <list>
#include <set>

#include "check_op.h"
#include "lab/studies/studies.h"

using namespace gradus::lab;

namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();

/// Stays alive, since the results of judge() point to it.
const Claim& claim_with(std::vector<Measure> measures) {
  static std::list<Claim> all;
  return all.emplace_back(
      Claim{.number = 1, .text = "x", .source = "y", .study = "z", .measures = std::move(measures)});
}

const Measure kAboveZero{.id = "a", .where = "2 layers", .what = "difference", .low = 0, .high = kOpen};
const Measure kToo{.id = "b", .where = "12 layers", .what = "difference", .low = 0, .high = kOpen};

std::string verdict(const Claim& claim, const Figures& figures) { return judge(claim, figures).verdict(); }

}  // namespace

TEST_CASE("a claim holds where its whole interval lies in the band") {
  const Claim claim = claim_with({kAboveZero});
  CHECK(verdict(claim, {{"a", {1.0, 1.1, 0.9, 1.0, 1.0}}}) == "holds");
  CHECK(verdict(claim, {{"a", {-1.0, -1.1, -0.9, -1.0, -1.0}}}) == "false");
  CHECK(verdict(claim, {{"a", {1.0, -0.5, 0.2, 0.3, -0.4}}}) == "unclear");
  CHECK(judge(claim, {{"a", {1.0}}}).head() == "not decided");  // one seed has no interval
  CHECK(verdict(claim, {}) == "not measured");
  CHECK(verdict(claim, {{"a", {}}}) == "not measured");
  CHECK(verdict(claim_with({}), {}) == "not testable here");
}

TEST_CASE("conditions of a claim are judged separately") {
  const Claim claim = claim_with({kAboveZero, kToo});
  const std::vector<double> up = {1.0, 1.1, 0.9, 1.0, 1.0}, down = {-1.0, -1.1, -0.9, -1.0, -1.0},
                            both = {1.0, -1.0, 0.5, 0, -0.5};
  CHECK(verdict(claim, {{"a", up}, {"b", up}}) == "holds");
  CHECK(verdict(claim, {{"a", up}, {"b", down}}) == "holds only where: 2 layers; false where: 12 layers");
  CHECK(verdict(claim, {{"a", down}, {"b", down}}) == "false");
  CHECK(verdict(claim, {{"a", both}, {"b", both}}) == "unclear");
  CHECK(verdict(claim, {{"a", up}, {"b", both}}) == "holds only where: 2 layers; unclear where: 12 layers");
  CHECK(verdict(claim, {{"a", both}, {"b", down}}) == "false where: 12 layers; unclear where: 2 layers");
  CHECK(verdict(claim, {{"a", up}}) == "holds (1 of 2 measured)");
  CHECK(judge(claim, {{"a", up}, {"b", down}}).short_verdict() == "holds in 1, false in 1 of 2");
  CHECK(judge(claim, {{"a", up}, {"b", up}}).short_verdict() == "holds");
}

TEST_CASE("a claim that needs all its parts is false where one of them is") {
  Claim claim = claim_with({kAboveZero, kToo});
  claim.all_needed = true;
  const std::vector<double> up = {1.0, 1.1, 0.9, 1.0, 1.0}, down = {-1.0, -1.1, -0.9, -1.0, -1.0},
                            both = {1.0, -1.0, 0.5, 0, -0.5};
  CHECK(verdict(claim, {{"a", up}, {"b", up}}) == "holds");
  CHECK(verdict(claim, {{"a", up}, {"b", down}}) == "false; holds in: 2 layers; false in: 12 layers");
  CHECK(judge(claim, {{"a", up}, {"b", down}}).short_verdict() == "false: holds in 1, false in 1 of 2");
  CHECK(verdict(claim, {{"a", up}, {"b", both}}) == "unclear; holds in: 2 layers; unclear in: 12 layers");
  claim.disputed = true;
  CHECK(verdict(claim, {{"a", up}, {"b", down}}) == "disputed; holds in: 2 layers; not so in: 12 layers");
}

TEST_CASE("a claim that needs all its parts does not hold before all of them are decided") {
  Claim claim = claim_with({kAboveZero, kToo});
  claim.all_needed = true;
  const std::vector<double> up = {1.0, 1.1, 0.9, 1.0, 1.0}, down = {-1.0, -1.1, -0.9, -1.0, -1.0},
                            both = {1.0, -1.0, 0.5, 0, -0.5};
  const JudgedClaim part = judge(claim, {{"a", up}});
  CHECK(part.head() == "not decided");
  CHECK(part.verdict() == "not decided; holds in: 2 layers; not measured in: 12 layers");
  CHECK(part.short_verdict() == "not decided: holds in 1, not measured in 1 of 2");
  Figures refused = {{"a", up}, {"b", down}};
  refused.object("b", Objection{Judgement::not_measured, "Post-LN trains nowhere"});
  CHECK(verdict(claim, refused) ==
        "not decided; holds in: 2 layers; not measured in: 12 layers (Post-LN trains nowhere)");
  CHECK(verdict(claim, {{"a", down}}) == "false (1 of 2 measured)");  // one part suffices for that
  CHECK(verdict(claim, {{"a", both}}) == "unclear (1 of 2 measured)");
  CHECK(verdict(claim, {}) == "not measured");
  const std::vector<double> few = {1.0, 1.1, 0.9};
  for (const bool disputed : {false, true}) {
    claim.disputed = disputed;
    const JudgedClaim undecided = judge(claim, {{"a", up}, {"b", few}});
    CHECK(undecided.head() == "not decided");
    CHECK(undecided.verdict() == "not decided; holds in: 2 layers; not decided in: 12 layers (3 seeds)");
    CHECK(undecided.short_verdict() == "not decided: holds in 1, not decided in 1 of 2");
  }
  CHECK(verdict(claim, {{"b", few}}) == "not decided in: 12 layers (3 seeds) (1 of 2 measured)");
  CHECK(verdict(claim, {{"a", both}, {"b", few}}) ==
        "unclear in: 2 layers; not decided in: 12 layers (3 seeds)");
  claim.all_needed = claim.disputed = false;
  CHECK(verdict(claim, {{"a", up}}) == "holds (1 of 2 measured)");
}

TEST_CASE("a disputed claim is not settled by one lab") {
  Claim claim = claim_with({kAboveZero});
  claim.disputed = true;
  CHECK(verdict(claim, {{"a", {-1.0, -1.1, -0.9, -1.0, -1.0}}}) == "disputed: not so here");
  CHECK(verdict(claim, {{"a", {1.0, 1.1, 0.9, 1.0, 1.0}}}) == "holds");
  claim.measures.push_back(kToo);
  CHECK(verdict(claim, {{"a", {1.0, 1.1, 0.9, 1.0, 1.0}}, {"b", {-1.0, -1.1, -0.9, -1.0, -1.0}}}) ==
        "disputed; holds where: 2 layers; not so where: 12 layers");
  CHECK(verdict(claim, {{"a", {1.0, 1.1, 0.9, 1.0, 1.0}}, {"b", {1.0, -1.0, 0.5, 0, -0.5}}}) ==
        "holds only where: 2 layers; unclear where: 12 layers");
  CHECK(verdict(claim, {{"a", {1.0, 1.1, 0.9, 1.0, 1.0}}, {"b", {1.0, 1.1, 0.9}}}) ==
        "holds only where: 2 layers; not decided where: 12 layers (3 seeds)");
}

TEST_CASE("more measures make wider intervals") {
  const Figures figures = {{"a", {1.0, 1.2, 0.8, 1.1, 0.9}}};
  const Judged alone = judge(claim_with({kAboveZero}), figures).measures[0];
  const Judged of_two = judge(claim_with({kAboveZero, kToo}), figures).measures[0];
  CHECK(of_two.interval.low < alone.interval.low);
  CHECK(describe_interval(Estimate::mean_t, 1) == "95% t interval");
  CHECK(describe_interval(Estimate::mean_t, 2) == "97.5% t interval");
}

TEST_CASE("shares and exact figures") {
  Measure share = kAboveZero;
  share.estimate = Estimate::share;
  share.low = 0.5, share.high = 1;
  const Judged most = judge(claim_with({share}), {{"a", {1, 1, 0, 1, 1, 1, 1, 1, 1, 1}}}).measures[0];
  CHECK(most.figure == doctest::Approx(0.9));
  CHECK(most.judgement == Judgement::holds);
  Measure exact = kAboveZero;
  exact.estimate = Estimate::exact;
  exact.low = 0, exact.high = 1e-9;
  const Judged worst = judge(claim_with({exact}), {{"a", {1e-12, 1e-3, 1e-10}}}).measures[0];
  CHECK(worst.figure == 1e-3);
  CHECK(worst.judgement == Judgement::fails);
  CHECK(judge(claim_with({exact}), {{"a", {1e-12, std::nan("")}}}).measures[0].judgement ==
        Judgement::unclear);
}

TEST_CASE("with three measures and more a share of ten seeds is decided only if all agree") {
  const auto judged = [](std::size_t measures, const std::vector<double>& values) {
    std::vector<Measure> all;
    for (std::size_t i = 0; i < measures; ++i)
      all.push_back({.id = i == 0 ? "a" : "other", .where = "", .what = "x", .low = 0.5, .high = 1});
    for (Measure& one : all) one.estimate = Estimate::share;
    return judge(claim_with(all), {{"a", values}}).measures[0].judgement;
  };
  const std::vector<double> nine = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, ten(10, 1), five(5, 1);
  CHECK(judged(2, nine) == Judgement::holds);
  CHECK(judged(3, nine) == Judgement::unclear);
  CHECK(judged(3, ten) == Judgement::holds);
  CHECK(judged(25, ten) == Judgement::holds);
  CHECK(judged(1, five) == Judgement::unclear);
}

TEST_CASE("the ledger is sound: unique numbers, existing studies, bands that can fail") {
  std::set<int> numbers;
  for (const Claim& claim : claims()) {
    INFO("claim ", claim.number);
    CHECK(numbers.insert(claim.number).second);
    CHECK(!claim.text.empty());
    CHECK(!claim.source.empty());
    CHECK(claim.measures.empty() == claim.study.empty());
    if (claim.measures.empty()) CHECK(!claim.note.empty());  // why it cannot be tested
    if (!claim.study.empty()) CHECK(study_named(claim.study).name == claim.study);
    std::set<std::string> ids, places;
    for (const Measure& measure : claim.measures) {
      CHECK(ids.insert(measure.id).second);
      CHECK(places.insert(measure.where).second);
      CHECK(!measure.what.empty());
      CHECK(measure.low <= measure.high);
      CHECK((std::isfinite(measure.low) || std::isfinite(measure.high)));
    }
  }
  CHECK_THROWS_WITH(claim_numbered(1000), doctest::Contains("there is no claim 1000"));
}

TEST_CASE("the median is judged by the interval of order statistics") {
  const Claim claim{.number = 1,
                    .text = "more",
                    .source = "no one",
                    .study = "none",
                    .measures = {{.id = "more",
                                  .where = "",
                                  .what = "more",
                                  .estimate = Estimate::median,
                                  .low = 1,
                                  .high = INFINITY}}};
  const JudgedClaim six = judge(claim, {{"more", {1, 2, 3, 4, 5, 6}}});
  CHECK(six.verdict() == "holds");
  CHECK(six.measures[0].figure == 3.5);
  CHECK(format_figure(six.measures[0]) == "3.5 (1 to 6)");
  CHECK(describe_interval(Estimate::median, 1) == "95% interval of the median");
  CHECK(judge(claim, {{"more", {1, 2, 3, 4, 5}}}).verdict() == "unclear");  // too few to exclude chance
}
