#include "gradus/kit/chart/axis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

using namespace gradus::kit;

namespace {

std::string labels(AxisKind kind, Range range, int wanted) {
  std::string text;
  for (const Tick& tick : nice_ticks(kind, range, wanted))
    if (!tick.label.empty()) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The value of a label.
double read_label(std::string label) {
  label = replaced(replaced(label, "\u202F", ""), "\u2212", "-");
  const std::size_t ten = label.rfind("10");
  const std::string raised = ten == std::string::npos ? "" : label.substr(ten + 2);
  if (raised.empty() || (raised[0] >= '.' && raised[0] <= '9')) return std::strtod(label.c_str(), nullptr);
  std::string power = replaced(raised, "\u207B", "-");
  const char* const digits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  for (int digit = 0; digit < 10; ++digit) power = replaced(power, digits[digit], std::to_string(digit));
  const std::string factor = replaced(label.substr(0, ten), "\u00B7", "");
  return std::strtod(((factor.empty() || factor == "-" ? factor + "1" : factor) + "e" + power).c_str(),
                     nullptr);
}

// Labels that are equal, or whose value differs from their position.
int wrong_labels(const std::vector<Tick>& ticks, double exact_to) {
  std::set<std::string> seen;
  int wrong = 0;
  for (const Tick& tick : ticks) {
    if (tick.label.empty()) continue;
    const bool right = std::abs(read_label(tick.label) - tick.value) <= exact_to;
    wrong += !seen.insert(tick.label).second || !right;
  }
  return wrong;
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

TEST_CASE("labels have enough digits to differ") {
  CHECK(
      labels(AxisKind::linear, {1200000, 1200400}, 4) ==
      "1\u202F200\u202F000 1\u202F200\u202F100 1\u202F200\u202F200 1\u202F200\u202F300 1\u202F200\u202F400");
  CHECK(labels(AxisKind::linear, {1.00001, 1.00004}, 3) == "1.00001 1.00002 1.00003 1.00004");
  CHECK(labels(AxisKind::linear, {1.7e9, 1.7e9 + 3600}, 4) ==
        "1\u202F700\u202F000\u202F000 1\u202F700\u202F001\u202F000 1\u202F700\u202F002\u202F000 "
        "1\u202F700\u202F003\u202F000");
  CHECK(labels(AxisKind::linear, {1e15, 1e15 + 1}, 3) ==
        "10\u00B9\u2075 1.000000000000001\u00B710\u00B9\u2075");
  CHECK(labels(AxisKind::linear, {-0.00012345, -0.0001234}, 5) ==
        "\u22120.00012345 \u22120.00012344 \u22120.00012343 \u22120.00012342 \u22120.00012341 "
        "\u22120.00012340");
  CHECK(labels(AxisKind::linear, {1e-5, 1.001e-5}, 2) ==
        "10\u207B\u2075 1.0005\u00B710\u207B\u2075 1.001\u00B710\u207B\u2075");
  CHECK(labels(AxisKind::linear, {2e6, 8e6}, 3) ==
        "2\u00B710\u2076 4\u00B710\u2076 6\u00B710\u2076 8\u00B710\u2076");
}

TEST_CASE("labels of one axis differ and are correct for any range") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 30000; ++i) {
    const double middle = (uniform(random) - 0.5) * std::pow(10, 40 * uniform(random) - 20);
    const double span = std::abs(middle) * std::pow(10, 18 * uniform(random) - 15.3);
    const Range range{middle - span / 2, middle + span / 2};
    const int wanted = 2 + static_cast<int>(7 * uniform(random));
    CAPTURE(range.low);
    CAPTURE(range.high);
    const double neighbour = std::nextafter(std::abs(middle) + span, 1e300) - (std::abs(middle) + span);
    const auto ticks = nice_ticks(AxisKind::linear, range, wanted);
    CHECK(wrong_labels(ticks, 2 * neighbour) == 0);
    if (wanted > 3 && span > 100 * neighbour) CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 20);
    if (range.low > 0) CHECK(wrong_labels(nice_ticks(AxisKind::log, range, wanted), 1e-12 * range.high) == 0);
  }
}

TEST_CASE("requested marks have labels that differ") {
  const auto written = [](const std::vector<double>& marks) {
    std::string text;
    for (const Tick& tick : ticks_at(marks, {0, 1e9})) text += tick.label + ";";
    return text;
  };
  CHECK(written({4, 1, 2, 1, -3, nothing}) == "1;2;4;");
  CHECK(written({1000, 1000.2, 3}) == "3;1000;1000.2;");
  CHECK(written({1.2e6, 1.2001e6}) == "1.2\u00B710\u2076;1.2001\u00B710\u2076;");
  CHECK(written({1, std::nextafter(1, 2)}) == "1;1.0000000000000002;");
  CHECK(written({}).empty());
}

TEST_CASE("log marks are powers of ten, with 2 and 5, or 3, if there is room") {
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

TEST_CASE("numbers are formatted for readers") {
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
