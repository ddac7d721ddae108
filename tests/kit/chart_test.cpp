#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/terminal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "chart_support.h"
#include "gradus/core/error.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

namespace {

// The "d" of the first path of a class.
std::string path_of(const std::string& svg, const std::string& css) {
  const std::size_t start = svg.find("<path class=\"" + css + "\" d=\"");
  if (start == std::string::npos) return "";
  const std::size_t from = svg.find("d=\"", start) + 3;
  return svg.substr(from, svg.find('"', from) - from);
}

}  // namespace

TEST_CASE("a line chart has its texts and a description for screen readers") {
  LineChart chart = simple({3, 2, 1.5, 1.75});
  chart.description = "Falls.";
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(svg.find("viewBox=\"0 0 400 ") != std::string::npos);
  CHECK(svg.find(
            "<desc>Falls. loss (nats) against step. Pre-LN: from 3 at 0 to 1.75 at 3, smallest 1.5 at 2.") !=
        std::string::npos);
  CHECK(svg.find(">step</text>") != std::string::npos);
  CHECK(svg.find(">loss (nats)</text>") != std::string::npos);
}

TEST_CASE("all text is escaped") {
  LineChart chart = simple({1, 2});
  chart.title = "<script>alert('x')</script>";
  chart.x_label = chart.y_label = "a<b & \"c\"";
  chart.series[0].name = "</svg><img src=x>";
  chart.references = {{Direction::horizontal, 1.5, "<&>"}};
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("<img") == std::string::npos);
}

TEST_CASE("values that are not finite break the line") {
  CHECK(count_of(path_of(draw(simple({1, 2, 3, 4, 5})), "curve"), "m") == 1);
  CHECK(count_of(path_of(draw(simple({1, 2, kNaN, 4, 5})), "curve"), "m") == 2);
  CHECK(count_of(path_of(draw(simple({1, 2, kInf, kNaN, 4, 5})), "curve"), "m") == 2);
  CHECK(path_of(draw(simple({kNaN, 1, kNaN})), "curve").empty());      // a lone point
  CHECK(path_of(draw(simple({kNaN, 1, kNaN})), "marks").size() > 10);  // is still marked
  for (const auto& values :
       {std::vector<double>{}, {kNaN}, {kInf, -kInf}, {5}, {5, 5}, {0, 0}, {1e-300, 1e300}}) {
    LineChart chart = simple(values);
    expect_sound(draw(chart));
    chart.y_axis = chart.x_axis = AxisKind::log;
    expect_sound(draw(chart));
  }
  expect_sound(draw(LineChart{}));
}

TEST_CASE("a log axis omits values that it cannot show") {
  LineChart chart = simple({10, 1, 0, -1, 1, 10});
  chart.y_axis = AxisKind::log;
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(count_of(path_of(svg, "curve"), "m") == 2);
  chart.series[0].y.back() = -1;  // the name stands at the last point there is, or in the legend
  expect_sound(draw(chart));
}

TEST_CASE("curves end at the limits of the axes") {
  LineChart chart = simple({1, 100, 1, -100, 1});
  chart.y_low = 0, chart.y_high = 2;
  const std::string svg = draw(chart);
  expect_sound(svg);
  // Up and out, in and down and out, in again: three pieces, each within the height of the plot.
  const std::string path = path_of(svg, "curve");
  CHECK(count_of(path, "m") == 3);
  const std::regex number("-?[0-9]*[.]?[0-9]+");
  for (std::sregex_iterator it(path.begin(), path.end(), number), end; it != end; ++it) {
    CHECK(std::abs(std::stod(it->str())) < 400);
  }
}

TEST_CASE("bands and error bars are drawn if both ends are known") {
  LineChart chart = simple({2, 2, 2, 2, 2});
  chart.series[0].low = {1, 1, kNaN, 1, 1};
  chart.series[0].high = {3, 3, kNaN, 3, 3};
  CHECK(count_of(path_of(draw(chart), "band"), "z") == 2);
  chart.series[0].spread = Spread::error_bars;
  const std::string svg = draw(chart);
  CHECK(path_of(svg, "band").empty());
  CHECK(count_of(path_of(svg, "bars"), "m") == 4 * 3);
}

TEST_CASE("names are at the ends of curves, or in a legend if they do not fit") {
  LineChart chart = simple({3, 2, 1});
  CHECK(draw(chart).find("class=\"name\"") != std::string::npos);
  chart.series[0].y[2] = kNaN;  // does not reach the end
  CHECK(draw(chart).find("class=\"name\"") == std::string::npos);
  CHECK(draw(chart).find(">Pre-LN</text>") != std::string::npos);
  chart.series[0].y[2] = 1;
  chart.series[0].name = "a name that is too long for the margin";
  CHECK(draw(chart).find("class=\"name\"") == std::string::npos);
  chart.series[0].name = "";
  CHECK(draw(chart).find("class=\"name\"") == std::string::npos);
}

TEST_CASE("names at the ends have room for a wide font") {
  LineChart chart = simple({3, 2, 1});
  chart.series[0].name = "DeepNorm";
  const std::string svg = draw(chart);
  std::smatch place;
  REQUIRE(std::regex_search(svg, place, std::regex("class=\"name\" x=\"([0-9.]+)\"")));
  CHECK(std::stod(place[1]) + 74.5 < 400);  // DejaVu Sans Bold at 12.5 px, of a chart's 400
}

TEST_CASE("names at the ends do not touch") {
  LineChart chart{.title = "T"};
  for (int i = 0; i < 5; ++i) {
    chart.series.push_back({.name = "s" + std::to_string(i), .x = {0, 1}, .y = {1.0 * i, 2.5}});
  }
  const std::string svg = draw(chart);
  std::set<double> places;
  const std::regex name("class=\"name\" x=\"[0-9.]+\" y=\"([0-9.]+)\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), name), end; it != end; ++it) {
    const double y = std::stod((*it)[1]);
    for (const double other : places) CHECK(std::abs(other - y) >= 14.9);
    places.insert(y);
  }
  CHECK(places.size() == 5);
}

TEST_CASE("series differ without colour") {
  LineChart chart{.title = "T"};
  for (int i = 0; i < 8; ++i) chart.series.push_back({.name = "s", .x = {0, 1, 2}, .y = {kNaN, 1, kNaN}});
  for (Series& series : chart.series) series.y = {1, 1, 1};
  const std::string svg = draw(chart);
  std::set<std::string> dashes, markers;
  const std::regex curve("class=\"curve\" d=\"[^\"]*\" (stroke-dasharray=\"[^\"]*\")?");
  for (std::sregex_iterator it(svg.begin(), svg.end(), curve), end; it != end; ++it) dashes.insert((*it)[1]);
  const std::regex marks("class=\"marks\" d=\"m[^l]*(l[^z]*z)");
  for (std::sregex_iterator it(svg.begin(), svg.end(), marks), end; it != end; ++it) markers.insert((*it)[1]);
  CHECK(dashes.size() == 8);
  CHECK(markers.size() == 2 * 8);  // in the plot, and larger in the legend
}

TEST_CASE("long series are condensed, and the table has the drawn values") {
  std::vector<double> y;
  for (int i = 0; i < 100000; ++i) y.push_back(i == 5000 ? 50 : 1 + i % 2);
  const LineChart chart = simple(y);
  const std::string svg = draw(chart);
  expect_sound(svg);
  CHECK(svg.size() < 8000);
  CHECK(path_of(svg, "band").size() > 100);  // the ends of each slice
  const Table table = numbers_of(chart);
  CHECK(table.rows.size() == 122);
  CHECK(table.caption.find("120 equal slices") != std::string::npos);
  CHECK(table.rows.front() == std::vector<std::string>{"0", "1.000 (1.000 to 1.000)"});
  CHECK(table.rows.back()[0] == "99\u202F999");
  CHECK(table.rows[3][1] == "1.501 (1.000 to 2.000)");
  CHECK(table.rows[7][1] == "1.559 (1.000 to 50.000)");  // the spike is not lost
}

TEST_CASE("a condensed series still has gaps at missing values") {
  std::vector<double> y(1000, 2.0);
  for (std::size_t i = 400; i < 700; ++i) y[i] = kNaN;
  CHECK(count_of(path_of(draw(simple(y)), "curve"), "m") == 2);
}

TEST_CASE("only a line with ascending x is averaged") {
  const auto circle = [](int n) {
    Series series{.name = "c"};
    for (int i = 0; i < n; ++i) {
      series.x.push_back(std::cos(2 * M_PI * i / (n - 1)));
      series.y.push_back(std::sin(2 * M_PI * i / (n - 1)));
    }
    return LineChart{.title = "T", .series = {series}};
  };
  CHECK(count_of(path_of(draw(circle(200)), "curve"), " ") > 150);
  CHECK(path_of(draw(circle(200)), "band").empty());
  CHECK(numbers_of(circle(200)).caption.empty());

  LineChart two_runs = simple({});  // a log with two runs
  for (const double level : {1.0, 3.0})
    for (int i = 0; i < 100; ++i) two_runs.series[0].x.push_back(i), two_runs.series[0].y.push_back(level);
  CHECK(path_of(draw(two_runs), "band").empty());
  CHECK(numbers_of(two_runs).rows.size() == 100);
  CHECK(numbers_of(two_runs).rows[7][1] == "1.000, 3.000");

  LineChart steady = simple(std::vector<double>(200, 1));  // a ROC curve goes straight up now and then
  for (double& x : steady.series[0].x) x = std::floor(x / 7);
  steady.series[0].x[50] = kNaN;
  CHECK_FALSE(path_of(draw(steady), "band").empty());
}

TEST_CASE("points without a line are never averaged") {
  LineChart chart = simple({});
  for (int i = 0; i < 1000; ++i) {
    chart.series[0].x.push_back(i % 7);
    chart.series[0].y.push_back(i % 11);
  }
  std::sort(chart.series[0].x.begin(), chart.series[0].x.end());
  chart.series[0].line = false;
  chart.series[0].name = "";  // no legend with marks of its own
  const std::string svg = draw(chart);
  CHECK(flaw_in(svg) == "");
  CHECK(count_of(path_of(svg, "marks"), "z") == 1000);
  CHECK(path_of(svg, "band").empty());
}

TEST_CASE("of very many points only every k-th is drawn, and gaps remain") {
  LineChart chart = simple(std::vector<double>(100'000, 2));
  Series& series = chart.series[0];
  for (std::size_t i = 0; i < series.x.size(); ++i) series.x[i] = -series.x[i];
  CHECK(numbers_of(chart).rows.size() == 2001);
  CHECK(numbers_of(chart).rows.front()[0] == "\u221299\u202F999");  // the last point is kept
  CHECK(numbers_of(chart).caption.find("only every k-th is drawn") != std::string::npos);
  series.y[70'001] = kNaN;
  CHECK(count_of(path_of(draw(chart), "curve"), "m") == 2);
  series.line = false, series.name = "";
  CHECK(count_of(path_of(draw(chart), "marks"), "z") == 2001);
}

TEST_CASE("an isolated point is marked at any position") {
  std::vector<double> y(20, kNaN);
  y[9] = 1, y[19] = 2;
  CHECK(count_of(path_of(draw(simple(y)), "marks"), "z") == 2);
  y[0] = 3;
  CHECK(count_of(path_of(draw(simple(y)), "marks"), "z") == 3);
}

TEST_CASE("a chart without names has a description in sentences") {
  LineChart chart = simple({3, 2, 2.5});
  chart.x_label = chart.y_label = chart.series[0].name = "";
  const auto said = [&](const std::string& words) {
    return draw(chart).find("<desc>" + words + "</desc>") != std::string::npos;
  };
  CHECK(said("Values. Line: from 3 at 0 to 2.5 at 2, smallest 2 at 1."));
  chart.series[0].line = false;
  CHECK(said("Values. Points: from 3 at 0 to 2.5 at 2, smallest 2 at 1."));
  chart.series.push_back(chart.series[0]);
  chart.series[1].y = {kNaN, kNaN, kNaN};
  chart.y_label = "loss";
  CHECK(said("loss. Series 1: from 3 at 0 to 2.5 at 2, smallest 2 at 1. Series 2: no finite values."));
}

TEST_CASE("a reference's label is where it hides no curve, not even a steep one between two points") {
  const auto left_edge = [](std::vector<double> y) {
    LineChart chart = simple(std::move(y));
    chart.references = {{Direction::horizontal, 0.5, "reference"}};
    const std::string svg = draw(chart);
    const std::size_t from = svg.find("<text class=\"halo\" x=\"");
    REQUIRE(from != std::string::npos);
    return std::stod(svg.substr(from + 22));
  };
  CHECK(left_edge({0, 0, 0, 0}) > 200);  // on the right, if that is free
  CHECK(left_edge({0, 0, 0, 1}) < 100);
  CHECK(left_edge({1, 0, 0, 0}) > 200);
}

TEST_CASE("tables join series by x") {
  LineChart chart{.title = "T", .x_label = "layers"};
  chart.series.push_back({.name = "a", .x = {1, 2}, .y = {0.5, kNaN}});
  chart.series.push_back({.name = "b", .x = {2, 3}, .y = {12.25, 1}, .low = {12, 0.5}, .high = {13, 1.5}});
  chart.references = {{Direction::horizontal, 0.25, "best"}};
  const Table table = numbers_of(chart);
  CHECK(table.header == std::vector<std::string>{"layers", "a", "b"});
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0] == std::vector<std::string>{"1", "0.50", ""});
  CHECK(table.rows[1] == std::vector<std::string>{"2", "\u2013", "12.25 (12.00 to 13.00)"});
  CHECK(table.rows[2] == std::vector<std::string>{"3", "", "1.00 (0.50 to 1.50)"});
  CHECK(table.rows[3][0] == "best: y = 0.25");
}

TEST_CASE("invalid charts are rejected") {
  LineChart chart = simple({1, 2, 3});
  chart.series[0].y.pop_back();
  CHECK_THROWS_WITH_AS(
      draw(chart),
      "LineChart \"T\": series \"Pre-LN\" has 3 x, 2 y, 0 low and 0 high values; expects as many y "
      "as x, and low and high for all or none",
      Error);
  chart = simple({1, 2, 3});
  chart.series[0].low = {1, 2, 3};
  CHECK_THROWS_AS(draw(chart), Error);
  chart = simple({1, 2, 3});
  chart.series[0].style = 8;
  CHECK_THROWS_WITH_AS(draw(chart), "LineChart \"T\": series \"Pre-LN\" has style 8, expects 0 to 7", Error);
  chart = simple({1, 2, 3});
  chart.y_axis = AxisKind::log, chart.y_low = 0;
  CHECK_THROWS_WITH_AS(draw(chart), "LineChart \"T\": 0 cannot be a limit of the y axis", Error);
  chart = simple({1, 2, 3});
  chart.x_low = 2, chart.x_high = 1;
  CHECK_THROWS_WITH_AS(draw(chart),
                       "LineChart \"T\": the x axis needs its low limit 2 below its high limit 1", Error);
}

TEST_CASE("references and heights that cannot be drawn are rejected") {
  for (const double at : {kInf, -kInf, kNaN}) {
    for (const Direction direction : {Direction::horizontal, Direction::vertical}) {
      LineChart chart{.title = "T", .references = {{direction, at, "best"}}};
      CHECK_THROWS_AS(draw(chart), Error);
      CHECK_THROWS_AS(terminal(chart), Error);
      CHECK_THROWS_AS(draw(Panels{.panels = {chart}}), Error);
    }
  }
  CHECK_THROWS_WITH_AS(draw(LineChart{.title = "T", .references = {{Direction::horizontal, kInf, "best"}}}),
                       "LineChart \"T\": the reference \"best\" is at inf, expects a finite value", Error);
  CHECK_THROWS_WITH_AS(
      draw(LineChart{.title = "T", .x_axis = AxisKind::log, .references = {{Direction::vertical, 0, "0"}}}),
      "LineChart \"T\": the reference \"0\" is at 0, expects a finite value above 0, for its log axis",
      Error);
  for (const double height : {kInf, -kInf, kNaN, -200.0, 0.0, 1e9})
    CHECK_THROWS_AS(draw(LineChart{.plot_height = height}), Error);
  CHECK_THROWS_WITH_AS(draw(LineChart{.title = "T", .plot_height = -1}),
                       "LineChart \"T\": expects a plot_height from 1 to 10000, got -1", Error);
  expect_sound(draw(LineChart{.plot_height = 1}));
}
