#include "docs/draw/quotes.h"

#include <doctest/doctest.h>

using gradus::docs::faults_of;
using gradus::docs::PageKind;

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

/// A link to the claim's row.
const std::string kLink = " ([13](claims.md#claim-13))\n";

std::size_t faults_in(const std::string& page, PageKind kind = PageKind::page,
                      const std::string& results = "") {
  return faults_of(page, ledger(), results, kind).size();
}

}  // namespace

TEST_CASE("pages that state claims link their rows") {
  CHECK(faults_of("Pre-LN is less sensitive to\nthe learning rate.", ledger()).size() == 1);
  CHECK(faults_of("It is Less sensitive to the learning rate ([13](claims.md#claim-13)).", ledger()).empty());
  CHECK(faults_of("Nothing of the kind.", ledger()).empty());
}

TEST_CASE("links go to rows that are there") {
  CHECK(faults_of("See [14](claims.md#claim-14).", ledger()).size() == 1);
}

TEST_CASE("figures next to a link are the row's") {
  const std::string right = format_figure(ledger()[0].measures[0]);
  CHECK(right == "2 (1.02 to 2.98)");
  const std::string link = " ([13](claims.md#claim-13))\n";
  CHECK(faults_of("By " + right + link, ledger()).empty());
  CHECK(faults_of("By 3 (1 to 5)" + link, ledger()).size() == 1);
  CHECK(faults_of("By 3 (1 to 5) elsewhere.\n\nHere" + link, ledger()).empty());
}

TEST_CASE("figures with words before their interval, lower ends first, and with their sign changed") {
  CHECK(faults_in("By 2 nats (1.02 to 2.98)" + kLink) == 0);
  CHECK(faults_in("By 2 nats of loss (1.02 to 2.98; the rest is text)" + kLink) == 0);
  CHECK(faults_in("By 2 nats (1.02 to 2.97)" + kLink) == 1);
  CHECK(faults_in("By \u22122 nats (\u22122.98 to \u22121.02)" + kLink) == 0);
  CHECK(faults_in("By \u22122 nats (\u22121.02 to \u22122.98)" + kLink) == 1);
}

TEST_CASE("other numbers next to a link are those of the row, of the page's output or of the results") {
  CHECK(faults_in("At least 1.02" + kLink) == 0);
  CHECK(faults_in("At least 1.03" + kLink) == 1);
  CHECK(faults_in("At least \u22121.02 of 3" + kLink) == 0);
  CHECK(faults_in("At least 1.03" + kLink + "\n```\nloss 1.030\n```\n") == 0);
  CHECK(faults_in("At least 1.03 ([results](results.md))" + kLink, PageKind::page, "Here it is 1.03.") == 0);
  CHECK(faults_in("At least 1.03 ([results](results.md))" + kLink, PageKind::page, "Here it is 1.04.") == 1);
  CHECK(faults_in("At least 1.03" + kLink, PageKind::page, "Here it is 1.03.") == 1);  // not linked
  CHECK(faults_in("See 2110.04369, section 3.14, version 0.1.0, and L1.03" + kLink) == 0);
  CHECK(faults_in("At least 1.03, elsewhere.\n\nHere" + kLink) == 0);
  CHECK(faults_in("- at least 1.03\n- here" + kLink) == 0);  // items are units of their own
  CHECK(faults_in("- here" + kLink + "  and 1.03\n") == 1);
  CHECK(faults_in("| 1.03 | here" + kLink + "| 1.02 | there |\n") == 1);
}

TEST_CASE("every figure with an interval in a chapter has a source") {
  const std::string figure = "By 2 (1.02 to 2.98), and 1.03 by hand.\n";
  CHECK(faults_in(figure) == 0);
  CHECK(faults_in(figure, PageKind::chapter) == 1);
  CHECK(faults_in(figure + "\n```\n 2.0 (1 to 3)\n2 ( 1.02 to   2.98)\n```\n", PageKind::chapter) == 0);
}

TEST_CASE("lists by verdict") {
  CHECK(faults_in("**Claims that hold.**\n\n| [13](claims.md#claim-13) | x |\n") == 0);
  CHECK(faults_in("**Claims that are false.**\n\n| [13](claims.md#claim-13) | x |\n") == 1);
  CHECK(faults_in("**Disputed and unclear claims.** One is [13](claims.md#claim-13).\n") == 1);
  CHECK(faults_in("**Claims that are false.**\n\n## Next\n\n[13](claims.md#claim-13)\n") == 0);
}
