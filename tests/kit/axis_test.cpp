#include "gradus/kit/chart/axis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gradus::kit;

namespace {

std::string labels(AxisKind kind, Range range, int wanted) {
  std::string text;
  for (const Tick& tick : nice_ticks(kind, range, wanted))
    if (!tick.label.empty()) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

}  // namespace

TEST_CASE("linear marks are round") {
  CHECK(labels(AxisKind::linear, {0, 1}, 5) == "0.0 0.2 0.4 0.6 0.8 1.0");
  CHECK(labels(AxisKind::linear, {0.77, 3.87}, 3) == "1 2 3");
  CHECK(labels(AxisKind::linear, {-1, 1}, 4) == "\u22121.0 \u22120.5 0.0 0.5 1.0");
  CHECK(labels(AxisKind::linear, {0, 2000}, 5) == "0 500 1000 1500 2000");
  CHECK(labels(AxisKind::linear, {1, 48}, 2) == "20 40");
  CHECK(labels(AxisKind::linear, {0, 40000}, 4) == "0 10\u202F000 20\u202F000 30\u202F000 40\u202F000");
  CHECK(labels(AxisKind::linear, {0, 0.0003}, 3) == "0.0000 0.0001 0.0002 0.0003");
  CHECK(labels(AxisKind::linear, {0, 3e-7}, 3) ==
        "0 10\u207B\u2077 2\u00B710\u207B\u2077 3\u00B710\u207B\u2077");
}

TEST_CASE("log marks are powers of ten, with 2 and 5, or 3, where there is room") {
  CHECK(labels(AxisKind::log, {0.25, 6.5}, 3) == "0.3 1 3");
  CHECK(labels(AxisKind::log, {1e-3, 1e2}, 6) == "0.001 0.01 0.1 1 10 100");
  CHECK(labels(AxisKind::log, {1.5, 60}, 6) == "2 5 10 20 50");
  CHECK(labels(AxisKind::log, {1e-12, 1}, 4) == "10\u207B\u00B9\u00B2 10\u207B\u2079 10\u207B\u2076 0.001 1");
  CHECK(labels(AxisKind::log, {2.1, 2.9}, 4) == "2.2 2.4 2.6 2.8");  // no power of ten inside
}

TEST_CASE("marks lie inside the range and are never too many") {
  for (const AxisKind kind : {AxisKind::linear, AxisKind::log}) {
    double low = 1e-9;
    for (int i = 0; i < 300; ++i) {
      low *= 1.17;
      for (const double factor : {1.0001, 1.3, 2.0, 17.0, 4e5}) {
        const Range range{low, low * factor};
        const auto ticks = nice_ticks(kind, range, 5);
        CHECK(ticks.size() <= 20);
        CHECK_FALSE(ticks.empty());
        for (const Tick& tick : ticks) {
          CHECK(tick.value >= range.low * (1 - 1e-6));
          CHECK(tick.value <= range.high * (1 + 1e-6));
        }
      }
    }
  }
  CHECK(nice_ticks(AxisKind::linear, {1, 1}, 5).empty());
}

TEST_CASE("numbers are written for people") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(0.0003) == "0.0003");
  CHECK(number_text(1.25) == "1.25");
  CHECK(number_text(-1.5) == "\u22121.5");
  CHECK(number_text(3.14159265, 4) == "3.142");
  CHECK(number_text(0.99999, 4) == "1");
  CHECK(number_text(12000) == "12\u202F000");
  CHECK(number_text(999999, 6) == "999\u202F999");
  CHECK(number_text(1e6) == "10\u2076");
  CHECK(number_text(-1e-7) == "\u221210\u207B\u2077");
  CHECK(number_text(2.5e-7) == "2.5\u00B710\u207B\u2077");
  CHECK(number_text(std::nan("")) == "\u2013");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) == "\u2212\u221E");
  CHECK(fixed_text(1, 2) == "1.00");
  CHECK(fixed_text(-0.001, 2) == "0.00");
  CHECK(fixed_text(std::nan(""), 2) == "\u2013");
  CHECK(fixed_text(-1234567.891, 1) == "\u22121\u202F234\u202F567.9");
}

TEST_CASE("a scale maps its ends and middle") {
  const Scale linear(AxisKind::linear, {0, 10}, 100, 200);
  CHECK(linear(0) == doctest::Approx(100));
  CHECK(linear(5) == doctest::Approx(150));
  CHECK(linear(10) == doctest::Approx(200));
  const Scale log(AxisKind::log, {1, 100}, 50, 0);
  CHECK(log(1) == doctest::Approx(50));
  CHECK(log(10) == doctest::Approx(25));
  CHECK(std::isnan(log(0)));
  CHECK(std::isnan(log(-1)));
  CHECK(std::isnan(linear(std::numeric_limits<double>::infinity())));
}
