#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "chart_support.h"
#include "gradus/core/error.h"
#include "gradus/kit/chart/chart.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

TEST_CASE("panels share axes and legend") {
  Panels panels{.title = "All", .description = "D."};
  for (int i = 0; i < 5; ++i) {
    LineChart chart = simple({1.0 * i, 2, 3});
    chart.title = "panel " + std::to_string(i);
    panels.panels.push_back(chart);
  }
  panels.panels[4].series[0].y = {1, 50, 3};
  const std::string svg = draw(panels);
  expect_sound(svg);
  CHECK(count_of(svg, ">Pre-LN</text>") == 1);
  CHECK(count_of(svg, ">40</text>") == 3);  // marks of the common y axis, on the first panel of each row
  CHECK(count_of(svg, ">panel ") == 5);
  CHECK(svg.find("viewBox=\"0 0 400 ") != std::string::npos);
  panels.columns = 3;
  CHECK(draw(panels).find("viewBox=\"0 0 600 ") != std::string::npos);
  panels.columns = 2;
  panels.panels[1].title = "SGD, momentum 0.9, without warm-up";  // wider than its panel
  const std::string wrapped_title = draw(panels);
  expect_sound(wrapped_title);
  CHECK(wrapped_title.find(">SGD, momentum") != std::string::npos);
  CHECK(wrapped_title.find("warm-up</text>") != std::string::npos);
  CHECK(wrapped_title.find("SGD, momentum 0.9, without warm-up</text>") == std::string::npos);
  panels.panels[1].title = "panel 1";
  CHECK(numbers_of(panels).size() == 5);
  CHECK(numbers_of(panels)[4].caption == "panel 4: loss (nats)");
  CHECK_THROWS_WITH_AS(draw(Panels{.title = "P"}), "Panels \"P\": expects at least one panel", Error);
}

TEST_CASE("a heat map prints each number, crosses out missing ones and frames the best") {
  HeatMap map{.title = "Final loss", .x_label = "learning rate", .y_label = "layers"};
  map.columns = {"0.001", "0.01"};
  map.rows = {"2", "6"};
  map.values = {1.5, 1, 1.25, kNaN};
  map.value_label = "nats";
  map.missing = "div.";
  map.low_is_good = true;
  const std::string svg = draw(map);
  expect_sound(svg);
  for (const char* text : {">1.50<", ">1.00<", ">1.25<", ">div.<"})
    CHECK(svg.find(text) != std::string::npos);
  CHECK(count_of(svg, "class=\"best\"") == 1);
  HeatMap outlier = map;  // one very bad value, which would make all others look alike
  outlier.values = {1, 2, 3, 20000};
  CHECK(count_of(draw(outlier), "fill-opacity=\"0.04\"") == 1);
  CHECK(draw(outlier).find("fill-opacity=\"0.61\"") != std::string::npos);
  outlier.worst = 3;
  CHECK(count_of(draw(outlier), "fill-opacity=\"0.04\"") == 2);
  CHECK(draw(outlier).find("fill-opacity=\"0.21\"") != std::string::npos);  // 1 - sqrt(1/2) of the way
  outlier.best = 2;  // 1 is no darker; the frame stays around it
  CHECK(count_of(draw(outlier), "fill-opacity=\"0.62\"") == 2);
  CHECK(count_of(draw(outlier), "class=\"best\"") == 1);
  outlier.low_is_good = false;  // the other way round: 3 and 20000 are better than the best
  outlier.best = 3;
  outlier.worst = 1;
  CHECK(count_of(draw(outlier), "fill-opacity=\"0.62\"") == 2);
  HeatMap counts = map;  // without a judgement nothing is marked, and large is dark
  counts.low_is_good = {};
  CHECK(draw(counts).find("class=\"best\"") == std::string::npos);
  counts.values = {0, 100, 50, 100};
  for (const char* shade : {"fill-opacity=\"0.04\"", "fill-opacity=\"0.33\"", "fill-opacity=\"0.62\""})
    CHECK(draw(counts).find(shade) != std::string::npos);
  counts.values = {7, 7, 7, 7};
  CHECK(count_of(draw(counts), "fill-opacity=\"0.33\"") == 4);
  CHECK(svg.find(
            "<desc>nats by layers (rows) and learning rate (columns). 2: 1.50 1.00. 6: 1.25 div..</desc>") !=
        std::string::npos);
  const Table table = numbers_of(map);
  CHECK(table.header == std::vector<std::string>{"layers \\ learning rate", "0.001", "0.01"});
  CHECK(table.rows[1] == std::vector<std::string>{"6", "1.25", "div."});
  map.values = {kNaN, kInf, kNaN, kNaN};
  expect_sound(draw(map));
  map.values = {1, 1, 1, 1};
  expect_sound(draw(map));
  map.values = {0.00125, 0.002, 0.01, -0.0005};
  CHECK(draw(map).find(">0.0013<") != std::string::npos);  // three digits of the largest
  map.values = {3, 12, 100, 12345};
  for (const char* text : {">3<", ">100<", ">12\u202F345<"}) CHECK(draw(map).find(text) != std::string::npos);
  map.decimals = 1;
  CHECK(draw(map).find(">3.0<") != std::string::npos);
  map.decimals = -1;
  CHECK_THROWS_WITH_AS(draw(map), "HeatMap \"Final loss\": expects 0 to 20 decimals, got -1", Error);
  map.decimals = {};
  map.columns[0] = "a name wider than its cell would be";
  CHECK(draw(map).find("viewBox=\"0 0 4") == std::string::npos);
  map.values.pop_back();
  CHECK_THROWS_WITH_AS(draw(map),
                       "HeatMap \"Final loss\": expects 2 x 2 values for its rows and columns, got 3", Error);
}

TEST_CASE("a standalone file contains style and background") {
  const std::string file = svg_file(draw(simple({1, 2})));
  expect_sound(file);
  CHECK(file.starts_with("<svg class=\"gradus-chart\" xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(std::regex_search(file, std::regex("width=\"800\" height=\"[0-9.]+\" viewBox=\"0 0 400 ")));
  CHECK(count_of(file, "<style>") == 1);
  CHECK(file.find("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>") != std::string::npos);
  CHECK(file.find("prefers-color-scheme:dark") != std::string::npos);
}

namespace {

// Relative luminance and contrast as WCAG 2 defines them.
struct Colour {
  double red, green, blue;
};
Colour variable(const std::string& css, const std::string& name) {
  const std::size_t at = css.find(name + ":#") + name.size() + 2;
  const auto part = [&](std::size_t i) { return std::stoi(css.substr(at + i, 2), nullptr, 16) / 255.0; };
  return {part(0), part(2), part(4)};
}
double luminance(const Colour& c) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}
double contrast(const Colour& a, const Colour& b) {
  const double first = luminance(a) + 0.05;
  const double second = luminance(b) + 0.05;
  return std::max(first, second) / std::min(first, second);
}
Colour mixed(const Colour& over, const Colour& under, double share) {
  const auto mix = [&](double a, double b) { return share * a + (1 - share) * b; };
  return {mix(over.red, under.red), mix(over.green, under.green), mix(over.blue, under.blue)};
}

}  // namespace

TEST_CASE("every colour has enough contrast with the background, in light and dark mode") {
  const std::string css = chart_style();
  const std::size_t night = css.find("prefers-color-scheme:dark");
  for (const std::string& theme : {css.substr(0, night), css.substr(night)}) {
    const Colour paper = variable(theme, "--gc-paper");
    for (const char* name : {"--gc-ink", "--gc-soft", "--gc-0", "--gc-1", "--gc-2", "--gc-3", "--gc-4",
                             "--gc-5", "--gc-6", "--gc-7"}) {
      CAPTURE(name);
      CHECK(contrast(variable(theme, name), paper) >= 4.5);
    }
    // The numbers of a heat map on its strongest shade.
    CHECK(contrast(variable(theme, "--gc-ink"), mixed(variable(theme, "--gc-heat"), paper, 0.62)) >= 4.5);
  }
}
