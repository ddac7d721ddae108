#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/detail/eta.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gradus::kit;

TEST_CASE("durations at every change of unit") {
  CHECK(human_duration(0) == "0 s");
  CHECK(human_duration(-3) == "0 s");
  CHECK(human_duration(0.42) == "0.4 s");
  CHECK(human_duration(9.94) == "9.9 s");
  CHECK(human_duration(9.96) == "10 s");
  CHECK(human_duration(59.4) == "59 s");
  CHECK(human_duration(59.6) == "1 min 00 s");
  CHECK(human_duration(200) == "3 min 20 s");
  CHECK(human_duration(3599.6) == "1 h 00 min");
  CHECK(human_duration(7500) == "2 h 05 min");
  CHECK(human_duration(86400 * 3 + 3600 * 4) == "3 d 4 h");
  CHECK(human_duration(std::nan("")) == "unknown");
  CHECK(human_duration(std::numeric_limits<double>::infinity()) == "unknown");
}

TEST_CASE("the estimate for a job of constant speed is exact") {
  Eta eta(100, 1000);
  CHECK_FALSE(eta.remaining().has_value());
  eta.update(10, 1005);
  CHECK(*eta.remaining() == doctest::Approx(45));
  eta.update(50, 1025);
  CHECK(*eta.remaining() == doctest::Approx(25));
  CHECK(eta.elapsed() == doctest::Approx(25));
  eta.update(100, 1050);
  CHECK(*eta.remaining() == 0);
}

TEST_CASE("the estimate follows a change of speed within minutes") {
  Eta eta(10000, 0);
  for (int second = 1; second <= 100; ++second) eta.update(10 * second, second);          // 10 a second
  for (int second = 1; second <= 300; ++second) eta.update(1000 + second, 100 + second);  // then 1 a second
  CHECK(*eta.remaining() > 0.8 * (10000 - 1300));
  CHECK(*eta.remaining() < 8700.5);
}

TEST_CASE("a clock that goes back and decreasing work do no harm") {
  Eta eta(10, 100);
  eta.update(5, 105);
  eta.update(4, 103);
  CHECK(eta.elapsed() == doctest::Approx(5));
  CHECK(std::isfinite(*eta.remaining()));
}
