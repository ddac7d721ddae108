#include "docs/draw/claims_page.h"

#include <doctest/doctest.h>

namespace {

const gradus::lab::Claim kClaim{.number = 13,
                                .text = "Pre-LN is less sensitive.",
                                .source = "x",
                                .study = "rates",
                                .measures = {{.id = "a", .where = "", .what = "w", .low = 0, .high = 9}},
                                .phrases = {"less sensitive to the learning rate"}};

std::vector<gradus::lab::JudgedClaim> ledger() {
  return {gradus::lab::judge(kClaim, {{"a", {1.0, 1.5, 2.0, 2.5, 3.0}}})};
}

}  // namespace

TEST_CASE("pages that state claims link their rows") {
  CHECK(gradus::docs::faults_of("Pre-LN is less sensitive to\nthe learning rate.", ledger()).size() == 1);
  CHECK(gradus::docs::faults_of("It is Less sensitive to the learning rate ([13](claims.md#claim-13)).",
                                ledger())
            .empty());
  CHECK(gradus::docs::faults_of("Nothing of the kind.", ledger()).empty());
}

TEST_CASE("links go to rows that are there") {
  CHECK(gradus::docs::faults_of("See [14](claims.md#claim-14).", ledger()).size() == 1);
}

TEST_CASE("figures beside a link are the row's") {
  const std::string right = format_figure(ledger()[0].measures[0]);
  CHECK(right == "2 (1.02 to 2.98)");
  const std::string link = " ([13](claims.md#claim-13))\n";
  CHECK(gradus::docs::faults_of("By " + right + link, ledger()).empty());
  CHECK(gradus::docs::faults_of("By 3 (1 to 5)" + link, ledger()).size() == 1);
  CHECK(gradus::docs::faults_of("By 3 (1 to 5) elsewhere.\n\nHere" + link, ledger()).empty());
}
