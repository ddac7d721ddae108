#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "chart_support.h"
#include "gradus/core/error.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/report/html_report.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

namespace {

BarChart three_bars() {
  return {.title = "B",
          .value_label = "nats",
          .categories = {"Adam", "AdamW", "SGD"},
          .series = {{.values = {1.5, 1.25, 3}}}};
}

struct Rect {
  double x, width;
};

// The bars of one class, from top to bottom.
std::vector<Rect> rects_of(const std::string& svg, const std::string& css) {
  std::vector<Rect> rects;
  const std::regex rect("<rect class=\"" + css + "\" x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), rect), end; it != end; ++it) {
    rects.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
  }
  return rects;
}

}  // namespace

TEST_CASE("bars start at zero, have the length of their values and a number each") {
  const std::string svg = draw(three_bars());
  expect_sound(svg);
  const std::vector<Rect> bars = rects_of(svg, "bar");
  REQUIRE(bars.size() == 3);
  CHECK(bars[0].x == bars[1].x);
  CHECK(bars[0].x == bars[2].x);
  CHECK(bars[0].width * 2 == doctest::Approx(bars[2].width).epsilon(0.002));
  CHECK(bars[1].width * 2.4 == doctest::Approx(bars[2].width).epsilon(0.002));
  for (const char* text : {">1.50<", ">1.25<", ">3.00<", ">Adam<", ">AdamW<", ">SGD<", ">nats<"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(svg.find("<desc>nats. Adam: 1.50. AdamW: 1.25. SGD: 3.00.</desc>") != std::string::npos);
}

TEST_CASE("negative bars extend to the left") {
  BarChart chart = three_bars();
  chart.series[0].values = {-1, 2, 0};
  const std::string svg = draw(chart);
  expect_sound(svg);
  const std::vector<Rect> bars = rects_of(svg, "bar");
  REQUIRE(bars.size() == 2);  // none for 0
  CHECK(bars[0].x + bars[0].width == doctest::Approx(bars[1].x).epsilon(0.001));
  CHECK(bars[0].width * 2 == doctest::Approx(bars[1].width).epsilon(0.005));
  CHECK(svg.find("text-anchor=\"end\">\u22121</text>") != std::string::npos);
  chart.series[0].values = {-1, -2, -3};
  expect_sound(draw(chart));
}

TEST_CASE("bars that are not finite are written, not drawn") {
  BarChart chart = three_bars();
  chart.series[0].values = {kNaN, kInf, -kInf};
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(rects_of(svg, "bar").empty());
  for (const char* text : {">\u2013<", ">\u221E<", ">\u2212\u221E<"})
    CHECK(svg.find(text) != std::string::npos);
}

TEST_CASE("error bars and references widen the axis") {
  BarChart chart = three_bars();
  const double before = rects_of(draw(chart), "bar")[2].width;
  chart.series[0].low = {1.4, kNaN, 2};
  chart.series[0].high = {1.6, 2, 6};
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(count_of(svg, "<path class=\"axis\"") == 2);
  CHECK(rects_of(svg, "bar")[2].width == doctest::Approx(before / 2).epsilon(0.002));
  CHECK(numbers_of(chart).rows[2] == std::vector<std::string>{"SGD", "3.00 (2.00 to 6.00)"});
  CHECK(numbers_of(chart).rows[1] == std::vector<std::string>{"AdamW", "1.25"});
  chart.references = {{.at = 12, .label = "<chance>"}, {.at = -3}};
  const std::string with = draw(chart);
  expect_sound(with);
  CHECK(count_of(with, "class=\"ref\"") == 2);
  CHECK(with.find(">&lt;chance&gt;</text>") != std::string::npos);
  CHECK(rects_of(with, "bar")[2].width < before / 4);
  CHECK(numbers_of(chart).rows[3] == std::vector<std::string>{"<chance>", "12"});
}

TEST_CASE("bars of one category have a legend and differ without colour") {
  BarChart chart{.title = "B", .categories = {"a"}};
  for (int i = 0; i < 8; ++i) chart.series.push_back({.name = "s" + std::to_string(i), .values = {1}});
  const std::string svg = draw(chart);
  expect_sound(svg);
  std::set<std::string> looks;  // class of the bar, and the moves of its hatching after the first
  const std::regex group("<g class=\"c[0-7]\">(.*?)</g>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), group), end; it != end; ++it) {
    const std::string look = (*it)[1];
    if (look.find("width=\"28\"") != std::string::npos) continue;  // the legend
    const std::size_t path = look.find('l', look.find(" d=\""));
    looks.insert(look.substr(look.find("class"), 12) +
                 (look.find("<path") == std::string::npos ? "" : look.substr(path, 40)));
  }
  CHECK(looks.size() == 8);
  for (int i = 0; i < 8; ++i) CHECK(count_of(svg, ">s" + std::to_string(i) + "</text>") == 1);
  CHECK(numbers_of(chart).header.size() == 9);
}

TEST_CASE("long names are above their bars, in lines that fit") {
  BarChart chart = three_bars();
  chart.categories[1] = "a name that is much too long to stand beside a bar on any telephone there is";
  chart.categories[2] = std::string(100, 'x');
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(svg.find(">a name that is much") != std::string::npos);
  CHECK(svg.find(">" + chart.categories[1] + "<") == std::string::npos);
  CHECK(svg.find(std::string(60, 'x') + "<") == std::string::npos);  // broken
  CHECK(rects_of(svg, "bar")[0].x < rects_of(draw(three_bars()), "bar")[0].x);
}

TEST_CASE("numbers at bars: whole numbers unchanged, else three digits of the largest") {
  BarChart chart = three_bars();
  const auto numbers = [&](const std::vector<double>& values) {
    chart.series[0].values = values;
    const Table table = numbers_of(chart);
    return table.rows[0][1] + " " + table.rows[1][1] + " " + table.rows[2][1];
  };
  CHECK(numbers({3, 12, 12000}) == "3 12 12\u202F000");
  CHECK(numbers({0.5, 12.25, 3}) == "0.5 12.2 3.0");
  CHECK(numbers({0, 0, 0}) == "0 0 0");
  CHECK(numbers({1e-9, 2e-9, 0}) == "10\u207B\u2079 2\u00B710\u207B\u2079 0");
  chart.decimals = 3;
  CHECK(numbers({3, 0.5, 1e300}) == "3.000 0.500 10\u00B3\u2070\u2070");
}

TEST_CASE("invalid bar charts are rejected") {
  BarChart chart = three_bars();
  chart.series[0].values.pop_back();
  CHECK_THROWS_WITH_AS(
      draw(chart),
      "BarChart \"B\": series \"\" has 2 values, 0 low and 0 high for 3 categories; expects a "
      "value for each, and low and high for all or none",
      Error);
  CHECK_THROWS_AS(numbers_of(chart), Error);
  chart = three_bars();
  chart.series[0].high = {1, 2, 3};
  CHECK_THROWS_AS(draw(chart), Error);
  chart = three_bars();
  chart.series[0].style = -1;
  CHECK_THROWS_WITH_AS(draw(chart), "BarChart \"B\": series \"\" has style -1, expects 0 to 7", Error);
  chart = three_bars();
  chart.decimals = 21;
  CHECK_THROWS_WITH_AS(draw(chart), "BarChart \"B\": expects 0 to 20 decimals, got 21", Error);
  chart = three_bars();
  chart.references = {{.at = kNaN, .label = "r"}};
  CHECK_THROWS_WITH_AS(draw(chart), "BarChart \"B\": the reference \"r\" is at nan, expects a finite value",
                       Error);
  CHECK_THROWS_WITH_AS(draw(BarChart{.title = "B"}),
                       "BarChart \"B\": expects at least one category and one series, got 0 and 0", Error);
}

TEST_CASE("a report shows a bar chart with its numbers") {
  HtmlReport report("R", "");
  report.figure(three_bars(), "Bars.");
  const std::string page = report.html();
  CHECK(flaw_in(page) == "");
  CHECK(page.find("<td class=\"n\">1.50</td>") != std::string::npos);
}

TEST_CASE("charts of extreme values are drawn") {
  constexpr double huge = 1.7e308;
  constexpr double tiny = 5e-324;
  const std::vector<std::vector<double>> cases = {{huge, -huge}, {huge, huge}, {tiny, 2 * tiny}, {tiny, huge},
                                                  {-tiny, 0},    {kNaN, huge}, {kInf, tiny}};
  for (const std::vector<double>& values : cases) {
    LineChart line = simple(values);
    expect_sound(draw(line));
    if (std::isfinite(values[0])) CHECK(draw(line).find("class=\"marks\"") != std::string::npos);
    line.y_axis = AxisKind::log;
    expect_sound(draw(line));
    BarChart chart{.title = "B", .categories = {"a", "b"}, .series = {{.values = values}}};
    expect_sound(draw(chart));
    const HeatMap map{.title = "H", .columns = {"a", "b"}, .rows = {"r"}, .values = values};
    expect_sound(draw(map));
  }
  LineChart many = simple(std::vector<double>(1000, huge));  // their sums are no numbers
  many.series[0].y[500] = -huge;
  expect_sound(draw(many));
  CHECK(numbers_of(many).rows.size() == 122);
  CHECK(numbers_of(many).rows[5][1] ==
        "1.7\u00B710\u00B3\u2070\u2078 (1.7\u00B710\u00B3\u2070\u2078 to 1.7\u00B710\u00B3\u2070\u2078)");
  for (const Tick& tick : nice_ticks(AxisKind::log, {1, std::numeric_limits<double>::max()}, 5))
    CHECK(std::isfinite(tick.value));
  CHECK(nice_ticks(AxisKind::linear, {-huge, huge}, 5).size() >= 3);
}
