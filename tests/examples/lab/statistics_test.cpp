#include "lab/statistics/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace gradus::lab;

namespace {

using Values = std::vector<double>;

}  // namespace

TEST_CASE("spread of a sample") {
  const gradus::lab::Spread spread = spread_of(Values{1, 2, 6});
  CHECK(spread.mean == doctest::Approx(3));
  CHECK(spread.std == doctest::Approx(std::sqrt(7.0)));
  CHECK(spread.low == 1);
  CHECK(spread.high == 6);
  CHECK(spread.count == 3);
  CHECK(std::isnan(spread_of({}).mean));
  CHECK(standard_deviation(Values{5}) == 0);
}

TEST_CASE("the median is the middle value, whatever the order") {
  CHECK(median({6, 1, 2}) == 2);
  CHECK(median({100, 1, 2, 4}) == 3);
  CHECK(median({5}) == 5);
  CHECK(std::isnan(median({})));
  CHECK(median({NAN, 3, NAN, 1, 2}) == 2);
}

TEST_CASE("the sign test, by hand") {
  CHECK(sign_test(6, 0, 6) == doctest::Approx(2 / 64.0));
  CHECK(sign_test(0, 6, 6) == doctest::Approx(2 / 64.0));
  CHECK(sign_test(5, 1, 6) == doctest::Approx(2 * (1 + 6) / 64.0));
  CHECK(sign_test(5, 0, 5) == doctest::Approx(2 / 32.0));
  CHECK(sign_test(3, 0, 3) == doctest::Approx(2 / 8.0));
  CHECK(sign_test(9, 2, 11) == doctest::Approx(2 * (1 + 11 + 55) / 2048.0));
  CHECK(sign_test(3, 3, 6) == 1);
  CHECK(sign_test(1, 0, 1) == doctest::Approx(1));
  CHECK(sign_test(0, 0, 0) == 1);
  CHECK(sign_test(0, 0, 4) == 1);
  CHECK(sign_test(2000, 1000, 3000) < 1e-70);
}

TEST_CASE("a seed without a difference counts for neither side") {
  CHECK(sign_test(6, 0, 7) == doctest::Approx(2 * (1 + 7) / 128.0));
  CHECK(sign_test(6, 0, 7) == sign_test(6, 1, 7));
}

TEST_CASE("differences, one per seed") {
  const Difference difference = difference_of(Values{-1, 0, 2, 3, 6});
  CHECK(difference.mean == doctest::Approx(2));
  CHECK(difference.low == -1);
  CHECK(difference.high == 6);
  CHECK(difference.up == 3);
  CHECK(difference.down == 1);
  CHECK(difference.count == 5);
  CHECK(difference.side() == 1);
  CHECK(difference.agreeing() == 3);
  CHECK(difference.p() == doctest::Approx(1));  // P(at least 3 of 5) = 1/2, twice
  CHECK(difference_of(Values{-1, -2}).side() == -1);
  CHECK(difference_of(Values{-1, 2}).side() == 0);
  CHECK(difference_of({}).count == 0);
  CHECK(difference_of({}).p() == 1);
  CHECK(std::isnan(difference_of({}).mean));
}

TEST_CASE("few seeds show little, even if they agree") {
  // Three equal differences have no spread at all; an interval from their standard deviation would be a
  // point.
  CHECK(difference_of(Values{1, 1, 1}).p() == doctest::Approx(0.25));
  CHECK(seeds_needed(1) == 6);   // 2 / 2^6 = 0.031
  CHECK(seeds_needed(2) == 7);   // 2 x 2 / 2^7 = 0.031
  CHECK(seeds_needed(10) == 9);  // 10 x 2 / 2^9 = 0.039
}

TEST_CASE("Holm's correction, by hand") {
  // Sorted 0.01, 0.02, 0.04: times 3, 2, 1.
  const std::vector<double> corrected = holm(Values{0.04, 0.01, 0.02});
  REQUIRE(corrected.size() == 3);
  CHECK(corrected[0] == doctest::Approx(0.04));
  CHECK(corrected[1] == doctest::Approx(0.03));
  CHECK(corrected[2] == doctest::Approx(0.04));
  // A larger p is never corrected to less than a smaller one; nothing exceeds 1.
  CHECK(holm(Values{0.03, 0.031, 0.9}) == Values{3 * 0.03, 3 * 0.03, 0.9});
  CHECK(holm(Values{0.6, 0.7}) == Values{1, 1});
  CHECK(holm(Values{}).empty());
}

TEST_CASE(
    "Benjamini and Hochberg: keeps the largest rank whose p is below its share of 0.05, and all before it") {
  // The example of section 3.2 of the paper (1995): of fifteen the four smallest are kept at 0.05.
  const Values p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const Values adjusted = benjamini_hochberg(p);
  CHECK(std::count_if(adjusted.begin(), adjusted.end(), [](double q) { return q <= 0.05; }) == 4);
  CHECK(adjusted[0] == doctest::Approx(0.0015));
  CHECK(adjusted[14] == 1);
  // In the given order, and a p that is large for its rank but not for a later one is kept with that.
  CHECK(benjamini_hochberg(Values{0.04, 0.045, 0.01})[0] == doctest::Approx(0.045));
  CHECK(benjamini_hochberg(Values{}).empty());
}

TEST_CASE("rank correlation: order alone counts, and equal values share a rank") {
  CHECK(rank_correlation(Values{1, 2, 3, 4}, Values{1, 10, 11, 1000}) == doctest::Approx(1));
  CHECK(rank_correlation(Values{1, 2, 3, 4}, Values{4, 3, 2, 1}) == doctest::Approx(-1));
  // Differences of ranks 1, 1, 0, 1, 1, then 1, 1, 2, 1, 1: 1 - 6 * 4 / (5 * 24), 1 - 6 * 8 / (5 * 24).
  CHECK(rank_correlation(Values{1, 2, 3, 4, 5}, Values{2, 1, 3, 6, 4.5}) == doctest::Approx(0.8));
  CHECK(rank_correlation(Values{1, 2, 3, 4, 5}, Values{2, 1, 5, 3, 4}) == doctest::Approx(0.6));
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5).
  CHECK(rank_correlation(Values{1, 2, 2, 3}, Values{5, 6, 7, 8}) == doctest::Approx(std::sqrt(0.9)));
  CHECK(std::isnan(rank_correlation(Values{1, 2}, Values{1, 2})));
  CHECK(std::isnan(rank_correlation(Values{1, 2, 3}, Values{4, 4, 4})));
}
