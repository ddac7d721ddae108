// Properties of every chart in a terminal, tested on random ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "chart_support.h"
#include "gradus/kit/chart/terminal.h"
#include "gradus/kit/data/utf8.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

namespace {

class RandomChart {
 public:
  explicit RandomChart(unsigned seed) : engine_(seed) {}

  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool one_in(int n) { return whole(1, n) == 1; }

  double value() {
    constexpr double extremes[] = {0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, kNaN, kInf, -kInf, 1e-300};
    if (one_in(12)) return extremes[whole(0, 9)];
    const double base = std::normal_distribution<double>()(engine_);
    return one_in(4) ? base * std::pow(10, whole(-12, 12)) : base;
  }
  std::vector<double> values(int n) {
    std::vector<double> result;
    for (int i = 0; i < n; ++i) result.push_back(value());
    return result;
  }
  std::string name() {
    const std::vector<std::string> parts = {
        "loss",       " ",  "\u00E9", "\u65E5\u672C", "\x1b[1m", "a-long-word-without-end",
        "\U0001F600", "\n", "\xff",   "e\u0301",      ""};
    std::string text;
    for (int i = whole(0, 6); i > 0; --i) text += parts[static_cast<std::size_t>(whole(0, 10))];
    return text;
  }
  std::vector<std::string> names(int n) {
    std::vector<std::string> result;
    for (int i = 0; i < n; ++i) result.push_back(name());
    return result;
  }
  AxisKind axis() { return one_in(3) ? AxisKind::log : AxisKind::linear; }
  TerminalOptions options() { return {.width = whole(20, 90), .height = whole(2, 20), .ascii = one_in(2)}; }

  LineChart lines() {
    LineChart chart{
        .title = name(), .x_label = name(), .y_label = name(), .x_axis = axis(), .y_axis = axis()};
    for (int i = whole(0, 4); i > 0; --i) {
      const int n = whole(0, 300);
      chart.series.push_back({.name = name(), .x = values(n), .y = values(n), .line = !one_in(3)});
    }
    for (int i = whole(0, 2); i > 0; --i) {
      const Direction direction = one_in(2) ? Direction::horizontal : Direction::vertical;
      const AxisKind kind = direction == Direction::horizontal ? chart.y_axis : chart.x_axis;
      const double at = value();
      const bool fits = std::isfinite(at) && (at > 0 || kind == AxisKind::linear);
      if (fits) chart.references.push_back({direction, at, name()});
    }
    return chart;
  }
  BarChart bars() {
    const int n = whole(1, 6);
    BarChart chart{.title = name(), .value_label = name(), .categories = names(n)};
    for (int i = whole(1, 3); i > 0; --i) chart.series.push_back({.name = name(), .values = values(n)});
    if (one_in(3)) chart.series[0].low = values(n), chart.series[0].high = values(n);
    const double at = value();
    if (std::isfinite(at)) chart.references.push_back({.at = at, .label = name()});
    return chart;
  }
  HeatMap heat_map() {
    const int rows = whole(1, 4);
    const int columns = whole(1, 150);
    return {.title = name(),
            .x_label = name(),
            .y_label = name(),
            .columns = names(columns),
            .rows = names(rows),
            .values = values(rows * columns),
            .value_label = name(),
            .missing = name()};
  }

 private:
  std::mt19937 engine_;
};

// Counts columns independently: two for the wide characters above, none for the accent.
int width_of(std::u32string_view line) {
  int width = 0;
  for (const char32_t c : line) width += c == 0x301 ? 0 : c >= 0x2E80 ? 2 : 1;
  return width;
}

void expect_fits(const std::string& text, const TerminalOptions& options) {
  CHECK(text.ends_with('\n'));
  std::u32string line;
  for (const char32_t c : code_points(text)) {
    if (c != U'\n') {
      const bool sane = c >= 0x20 && c != 0x7F && !(c >= 0xD800 && c < 0xE000);
      if (!sane || (*options.ascii && c >= 0x80)) FAIL_CHECK("character ", static_cast<unsigned>(c));
      line += c;
      continue;
    }
    if (width_of(line) > options.width) FAIL_CHECK(to_utf8(line), " is wider than ", options.width);
    if (line.ends_with(U' ')) FAIL_CHECK(to_utf8(line), " ends in a space");
    line.clear();
  }
}

}  // namespace

TEST_CASE("terminal: no chart is wider than requested, for any values and names") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    RandomChart random(seed);
    const TerminalOptions options = random.options();
    expect_fits(terminal(random.lines(), options), options);
    expect_fits(terminal(random.bars(), options), options);
    expect_fits(terminal(random.heat_map(), options), options);
  }
}

TEST_CASE("terminal: every finite point is inside, with its own mark if there is room") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomChart random(seed);
    const int n = random.whole(1, 20);
    LineChart chart = simple(random.values(n));
    chart.y_axis = random.axis();
    chart.series[0].line = false;
    const auto expected = std::count_if(chart.series[0].y.begin(), chart.series[0].y.end(), [&](double y) {
      return std::isfinite(y) && (chart.y_axis == AxisKind::linear || y > 0);
    });
    const std::string text = terminal(chart, {.width = 100, .height = 8, .ascii = false});
    CHECK(count_of(text, "\u2022") == static_cast<std::size_t>(expected));
  }
}

TEST_CASE("terminal: points without a line are all drawn, also above each other") {
  LineChart chart = simple({0, 4, 1, 2, 3, 5, 2.5});
  chart.series[0].x = {1, 1, 1, 1, 1, 1, 2};
  chart.series[0].line = false;
  CHECK(count_of(terminal(chart, {.width = 40, .ascii = false}), "\u2022") == 7);
}

TEST_CASE("terminal: thinning a long line does not change the picture") {
  // First, highest, lowest and last of each column of dots, then with many more between them, which change
  // nothing.
  LineChart few = simple({});
  LineChart many = few;
  std::mt19937 engine(7);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  for (int i = 0; i < 100; ++i) {
    const double low = between(-1, 0);
    const double high = between(0, 1);
    for (const double y : {between(low, high), high, low, between(low, high)}) {
      for (LineChart* chart : {&few, &many}) chart->series[0].x.push_back(i), chart->series[0].y.push_back(y);
      for (int k = 0; k < 30; ++k) {
        many.series[0].x.push_back(i);
        many.series[0].y.push_back(y + (between(low, high) - y) * 0.999);
      }
    }
  }
  // The last point of each column is the same.
  LineChart& both = few;
  for (int i = 0; i < 100; ++i) {
    const double y = many.series[0].y[static_cast<std::size_t>(i) * 124 + 123];
    both.series[0].y[static_cast<std::size_t>(i) * 4 + 3] = y;
  }
  const TerminalOptions options{.width = 70, .height = 10, .ascii = false};
  CHECK(terminal(few, options) == terminal(many, options));
  // And what stands out is seen.
  many.series[0].y[2345] = 9;
  CHECK(terminal(few, options) != terminal(many, options));
}
