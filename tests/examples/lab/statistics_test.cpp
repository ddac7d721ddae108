#include "lab/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace gradus::lab;

namespace {

using Values = std::vector<double>;

}  // namespace

TEST_CASE("spread of a sample") {
  const Spread spread = spread_of(Values{1, 2, 6});
  CHECK(spread.mean == doctest::Approx(3));
  CHECK(spread.std == doctest::Approx(std::sqrt(7.0)));
  CHECK(spread.low == 1);
  CHECK(spread.high == 6);
  CHECK(spread.count == 3);
  CHECK(std::isnan(spread_of({}).mean));
  CHECK(standard_deviation(Values{5}) == 0);
}

TEST_CASE("Student's interval") {
  // Mean 2, standard deviation 1, n = 3: 4.303 / sqrt(3).
  const Difference difference = difference_of(Values{1, 2, 3});
  CHECK(difference.mean == doctest::Approx(2));
  CHECK(difference.half_width == doctest::Approx(4.303 / std::sqrt(3.0)));
  CHECK_FALSE(difference.clear());
  CHECK(difference_of(Values{1.9, 2, 2.1}).clear());
  CHECK(difference_of(Values{-1.9, -2, -2.1}).clear());
  CHECK_FALSE(difference_of(Values{0, 0, 0}).clear());
  CHECK_FALSE(difference_of(Values{5}).clear());  // one pair says nothing about spread
  CHECK_FALSE(difference_of({}).clear());
}

TEST_CASE("beyond the table the interval nears the normal one") {
  const auto half_width = [](std::size_t n) {
    Values values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? 1 : -1);
    return difference_of(values).half_width / standard_deviation(values) * std::sqrt(static_cast<double>(n));
  };
  CHECK(half_width(13) == doctest::Approx(2.1788).epsilon(0.001));  // t at 12 degrees
  CHECK(half_width(31) == doctest::Approx(2.0423).epsilon(0.001));  // t at 30 degrees
  CHECK(half_width(1001) == doctest::Approx(1.9623).epsilon(0.001));
}

TEST_CASE("McNemar's exact test") {
  CHECK(mcnemar(0, 0) == 1);
  CHECK(mcnemar(3, 3) == 1);
  CHECK(mcnemar(5, 0) == doctest::Approx(2 / 32.0));
  CHECK(mcnemar(6, 0) == doctest::Approx(2 / 64.0));
  CHECK(mcnemar(0, 6) == mcnemar(6, 0));
  CHECK(mcnemar(9, 2) == doctest::Approx(2 * (1 + 11 + 55) / 2048.0));
  CHECK(mcnemar(2000, 1000) < 1e-70);
}
