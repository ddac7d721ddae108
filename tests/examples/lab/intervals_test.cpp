#include "lab/statistics/intervals.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "gradus/core/random/random.h"
#include "lab/statistics/statistics.h"

using namespace gradus::lab;

namespace {

using Values = std::vector<double>;

}  // namespace

TEST_CASE("quantiles of Student's t are those of the tables") {
  CHECK(t_quantile(0.975, 1) == doctest::Approx(12.7062047).epsilon(1e-7));
  CHECK(t_quantile(0.975, 2) == doctest::Approx(4.30265273).epsilon(1e-7));
  CHECK(t_quantile(0.975, 9) == doctest::Approx(2.26215716).epsilon(1e-7));
  CHECK(t_quantile(0.995, 5) == doctest::Approx(4.03214298).epsilon(1e-7));
  CHECK(t_quantile(0.025, 9) == doctest::Approx(-2.26215716).epsilon(1e-7));
  CHECK(std::abs(t_quantile(0.5, 7)) < 1e-7);
  CHECK(t_quantile(0.975, 1e6) == doctest::Approx(1.95996).epsilon(1e-5));  // the normal distribution's
}

TEST_CASE("the incomplete beta function where it has a closed form") {
  for (const double x : {0.01, 0.3, 0.5, 0.9, 0.999}) {
    CHECK(incomplete_beta(x, 1, 1) == doctest::Approx(x).epsilon(1e-12));
    CHECK(incomplete_beta(x, 3, 1) == doctest::Approx(x * x * x).epsilon(1e-12));
    CHECK(incomplete_beta(x, 1, 4) == doctest::Approx(1 - std::pow(1 - x, 4)).epsilon(1e-12));
    CHECK(incomplete_beta(x, 0.5, 0.5) == doctest::Approx(2 / M_PI * std::asin(std::sqrt(x))).epsilon(1e-11));
  }
  CHECK(incomplete_beta(0, 2, 3) == 0);
  CHECK(incomplete_beta(1, 2, 3) == 1);
}

TEST_CASE("t interval: mean -+ t s / sqrt(n)") {
  const Values values = {1, 2, 3, 4, 5};
  const Interval interval = t_interval(values, 0.95);
  CHECK(interval.low == doctest::Approx(3 - 2.7764451 * std::sqrt(2.5 / 5)).epsilon(1e-7));
  CHECK(interval.high == doctest::Approx(3 + 2.7764451 * std::sqrt(2.5 / 5)).epsilon(1e-7));
  CHECK(std::isinf(t_interval(Values{1}, 0.95).high));
  CHECK(t_interval(Values{2, 2, 2}, 0.95).low == 2);
}

TEST_CASE("t intervals cover the mean at their stated level") {
  gradus::Generator generator(1);
  int covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values values;
    for (int i = 0; i < 6; ++i) values.push_back(3 + generator.normal());
    const Interval interval = t_interval(values, 0.9);
    covered += interval.low <= 3 && 3 <= interval.high;
  }
  CHECK(covered > 0.885 * kTrials);  // standard error 0.0047
  CHECK(covered < 0.915 * kTrials);
}

TEST_CASE("the bootstrap interval is the same each time, inside the values, and about s / sqrt(n) wide") {
  Values values;
  gradus::Generator generator(2);
  for (int i = 0; i < 40; ++i) values.push_back(generator.normal());
  const Interval interval = bootstrap_interval(values, 0.95);
  CHECK(interval.low == bootstrap_interval(values, 0.95).low);
  CHECK(interval.low < mean(values));
  CHECK(interval.high > mean(values));
  const double expected = 2 * 1.96 * standard_deviation(values) / std::sqrt(40.0);
  CHECK(interval.high - interval.low == doctest::Approx(expected).epsilon(0.08));
}

TEST_CASE("Clopper and Pearson's interval") {
  const Interval eight = share_interval(8, 10, 0.95);
  CHECK(eight.low == doctest::Approx(0.4439045).epsilon(1e-6));
  CHECK(eight.high == doctest::Approx(0.9747893).epsilon(1e-6));
  CHECK(share_interval(1, 10, 0.95).low == doctest::Approx(1 - std::pow(0.975, 0.1)).epsilon(1e-9));
  CHECK(share_interval(10, 10, 0.95).low == doctest::Approx(std::pow(0.025, 0.1)).epsilon(1e-9));
  CHECK(share_interval(10, 10, 0.95).high == 1);
  CHECK(share_interval(0, 10, 0.95).low == 0);
  CHECK(share_interval(0, 10, 0.95).high == doctest::Approx(1 - std::pow(0.025, 0.1)).epsilon(1e-9));
}

TEST_CASE("the interval of the median lies on one side of 0 exactly if the sign test finds a difference") {
  CHECK(median_interval({3, 1, 2, 6, 5, 4}, 0.95).low == 1);
  CHECK(median_interval({3, 1, 2, 6, 5, 4}, 0.95).high == 6);
  CHECK(std::isinf(median_interval({1, 2, 3, 4, 5}, 0.95).low));  // p = 2 / 2^5 at best
  for (std::int64_t n = 2; n <= 40; ++n)
    for (std::int64_t up = 0; up <= n; ++up) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; ++i) values.push_back(i < up ? 1 : -1);
      const Interval interval = median_interval(values, 0.95);
      const bool tells = sign_test(up, n - up, n) <= 0.05;
      CHECK((interval.low > 0 || interval.high < 0) == tells);
    }
}

TEST_CASE("an interval on the logit scale stays between 0 and 1, and is the t interval for small spreads") {
  const Values close = {0.5, 0.51, 0.49, 0.5, 0.5}, high = {1, 0.9, 1, 0.8, 1};
  const Interval plain = t_interval(close, 0.95), logit = logit_interval(close, 0.95);
  CHECK(logit.low == doctest::Approx(plain.low).epsilon(1e-3));
  CHECK(logit.high == doctest::Approx(plain.high).epsilon(1e-3));
  CHECK(t_interval(high, 0.95).high > 1);
  CHECK(logit_interval(high, 0.95).high < 1);
  CHECK(logit_interval(high, 0.95).low < 0.94);
  const double half = (t_interval(high, 0.95).high - 0.94) / (0.94 * 0.06), at = std::log(0.94 / 0.06);
  CHECK(logit_interval(high, 0.95).low == doctest::Approx(1 / (1 + std::exp(half - at))));
  CHECK(logit_interval(Values{1, 1, 1, 1, 1}, 0.95).low == 1);
}
