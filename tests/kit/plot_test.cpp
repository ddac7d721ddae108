#include "gradus/kit/chart/plot.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>

#include "chart_support.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/report/html_report.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

namespace {

using Numbers = std::vector<double>;

Numbers y_of(const Values& values) { return plot(values).series[0].y; }

struct PlotFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "gradus_plot_test";
  PlotFolder() { std::filesystem::create_directories(path); }
  ~PlotFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("plot takes any container of numbers and any tensor of one axis") {
  const Numbers expected = {0.5, 1, 2};
  CHECK(y_of({0.5, 1, 2}) == expected);
  CHECK(y_of(std::vector<double>{0.5, 1, 2}) == expected);
  CHECK(y_of(std::vector<float>{0.5F, 1, 2}) == expected);
  CHECK(y_of(std::array<int, 3>{1, 2, 3}) == Numbers{1, 2, 3});
  const std::vector<float> floats{0.5F, 1, 2};
  CHECK(y_of(std::span<const float>(floats)) == expected);
  CHECK(y_of(std::vector<bool>{true, false}) == Numbers{1, 0});
  for (const DType dtype : {f32, f64}) CHECK(y_of(tensor({0.5, 1., 2.}).to(dtype)) == expected);
  CHECK(y_of(arange(3, i64)) == Numbers{0, 1, 2});
  CHECK(y_of(full({1}, (std::int64_t{1} << 60) + 1, i64)) == Numbers{0x1p60});  // rounded
  CHECK(y_of(arange(3, i64) > 1) == Numbers{0, 0, 1});
  CHECK(y_of(tensor({0.5, 1., 2.}).requires_grad_() * 2) == Numbers{1, 2, 4});
  CHECK(y_of(nn::Linear(2, 3).bias).size() == 3);
  CHECK(y_of(arange(6).reshape({2, 3}).t()[1]) == Numbers{1, 4});  // a view with strides
}

TEST_CASE("plot makes a line chart with all its options") {
  LineChart chart = plot({3, 2}, {.title = "Loss", .y_label = "nats", .y_axis = AxisKind::log});
  CHECK(chart.title == "Loss");
  CHECK(chart.y_axis == AxisKind::log);
  REQUIRE(chart.series.size() == 1);
  CHECK(chart.series[0].x == Numbers{0, 1});
  CHECK(chart.series[0].y == Numbers{3, 2});
  CHECK(plot({5, 7}, {3, 2}).series[0].x == Numbers{5, 7});
  CHECK(plot(tensor({5., 7.}), Numbers{3, 2}, {.title = "xy"}).title == "xy");

  const Numbers losses = {3, 2, 1};
  chart = plot({{"train", losses}, {"validation", {0, 2}, {3, 1.5}}}, {.x_label = "step"});
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "train");
  CHECK(chart.series[0].x == Numbers{0, 1, 2});
  CHECK(chart.series[1].name == "validation");
  CHECK(chart.series[1].x == Numbers{0, 2});
  CHECK(chart.series[1].y == Numbers{3, 1.5});
  chart = plot({{"more", losses}}, chart);  // adds to the lines that are there
  CHECK(chart.series.size() == 3);
  expect_sound(draw(chart));
  HtmlReport report("R", "");
  report.figure(plot(losses), "Falls.");
  CHECK(flaw_in(report.html()) == "");
}

TEST_CASE("options in braces are options, not numbers") {
  const Numbers x = {1, 2, 3};
  CHECK(plot(x, {}).series[0].y == x);
  CHECK(plot(x, {.x_ticks = {0, 1, 2}}).x_ticks == Numbers{0, 1, 2});
  CHECK(plot(x, {.plot_height = 300}).plot_height == 300);
  CHECK(plot(x, {.references = {{.at = 2}}}).references.size() == 1);
  CHECK(plot(x, x, {}).series[0].x == x);
  CHECK(plot(x, x, {.x_ticks = {0, 1, 2}}).x_ticks == Numbers{0, 1, 2});
  CHECK(plot({1, 2.5}, {}).series[0].y == Numbers{1, 2.5});
  CHECK(plot({5}).series[0].y == Numbers{5});
  CHECK(bars({"a"}, {1}, {}).series[0].values == Numbers{1});
}

TEST_CASE("plot's messages for invalid values") {
  CHECK_THROWS_WITH_AS(plot(Numbers{}), "kit::plot: there are no values", Error);
  CHECK_THROWS_WITH_AS(plot(zeros({0})), "kit::plot: there are no values", Error);
  CHECK_THROWS_WITH_AS(plot({{"a", {1}}, {"b", Numbers{}}}), "kit::plot: there are no values in \"b\"",
                       Error);
  CHECK_THROWS_WITH_AS(plot({1, 2, 3}, {1, 2}), "kit::plot: 3 x and 2 y: expects as many of each", Error);
  CHECK_THROWS_WITH_AS(plot({{"a", {1, 2}, {1}}}), "kit::plot: 2 x and 1 y in \"a\": expects as many of each",
                       Error);
  CHECK_THROWS_WITH_AS(plot({kNaN, kInf, -kInf}),
                       "kit::plot: there is no point to draw: all values are NaN or infinite", Error);
  CHECK_THROWS_WITH_AS(plot({kNaN, 1}, {1, kNaN}),
                       "kit::plot: there is no point to draw: all values are NaN or infinite", Error);
  CHECK_THROWS_WITH_AS(
      plot({0, -1}, {.y_axis = AxisKind::log}),
      "kit::plot: there is no point to draw: on a log axis values must be above 0 and finite", Error);
  CHECK_NOTHROW(plot({{"a", {kNaN}}, {"b", {1}}}));
  CHECK_THROWS_WITH_AS(plot(Tensor()), "kit::Values: the tensor is undefined: give it a value first", Error);
  CHECK_THROWS_WITH_AS(
      plot(zeros({2, 3})),
      "kit::Values: expects a tensor of one axis, got the shape [2, 3]; use x.flatten(), draw a matrix with "
      "kit::heat_map(x), or its columns with kit::plot({{\"a\", x.select(1, 0)}, ...})",
      Error);
  CHECK_THROWS_AS(plot(zeros({})), Error);
}

TEST_CASE("bars in one line") {
  BarChart chart = bars({"Adam", "SGD"}, {1.25, 1.5}, {.value_label = "nats"});
  CHECK(chart.categories == std::vector<std::string>{"Adam", "SGD"});
  CHECK(chart.series[0].values == Numbers{1.25, 1.5});
  CHECK(chart.value_label == "nats");
  chart = bars({"2", "6"}, {{"Pre-LN", {1, 2}}, {"Post-LN", tensor({3., 4.})}}, {.title = "T"});
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[1].name == "Post-LN");
  CHECK(chart.series[1].values == Numbers{3, 4});
  expect_sound(draw(chart));
  CHECK_THROWS_WITH_AS(bars({}, Numbers{}), "kit::bars: there are no values", Error);
  CHECK_THROWS_WITH_AS(bars({"a", "b"}, {1}), "kit::bars: 1 values for 2 names", Error);
  CHECK_THROWS_WITH_AS(bars({"a", "b"}, {{"x", {1, 2}}, {"y", {1, 2, 3}}}),
                       "kit::bars: 3 values in \"y\" for 2 names", Error);
}

TEST_CASE("a heat map in one line") {
  HeatMap map = heat_map(arange(6).reshape({2, 3}), {.columns = {"a", "b", "c"}});
  CHECK(map.values == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(map.rows == std::vector<std::string>{"0", "1"});
  CHECK(map.columns == std::vector<std::string>{"a", "b", "c"});
  CHECK(heat_map(arange(6).reshape({2, 3}).t()).values == Numbers{0, 3, 1, 4, 2, 5});
  expect_sound(draw(map));
  CHECK(draw(map).find("class=\"best\"") == std::string::npos);
  CHECK(draw(heat_map(eye(2), {.low_is_good = false})).find("class=\"best\"") != std::string::npos);
  CHECK(draw(map).find("<desc>Values. 0: 0 1 2. 1: 3 4 5.</desc>") != std::string::npos);
  map.x_label = "key";
  CHECK(draw(map).find("<desc>Values by key (columns). 0: ") != std::string::npos);
  CHECK_THROWS_WITH_AS(heat_map(Tensor()), "kit::heat_map: the tensor is undefined: give it a value first",
                       Error);
  CHECK_THROWS_WITH_AS(heat_map(zeros({2})),
                       "kit::heat_map: expects a matrix, got the shape [2]; see kit::plot(x)", Error);
  CHECK_THROWS_WITH_AS(heat_map(zeros({2, 2, 2})),
                       "kit::heat_map: expects a matrix, got the shape [2, 2, 2]; pick one, as in x[0]",
                       Error);
  CHECK_THROWS_WITH_AS(
      heat_map(zeros({65, 64})),
      "kit::heat_map: expects 1 to 4096 elements, got the shape [65, 64]; each is a cell to be "
      "read: show a slice, or means of blocks, or only shades with .numbers = false",
      Error);
  CHECK_THROWS_AS(heat_map(zeros({0, 3})), Error);
  CHECK_THROWS_WITH_AS(heat_map(zeros({2, 3}), {.rows = {"a"}}),
                       "kit::heat_map: 1 names for 2 rows of [2, 3]", Error);
  CHECK_THROWS_WITH_AS(heat_map(zeros({2, 3}), {.columns = {"a"}}),
                       "kit::heat_map: 1 names for 3 columns of [2, 3]", Error);
}

TEST_CASE("charts are saved as SVG, or as a page with the numbers") {
  const PlotFolder folder;
  const std::string svg = (folder.path / "loss.svg").string();
  plot({3, 2.5}, {.title = "Loss"}).save(svg);
  CHECK(read_file(svg) == svg_file(draw(plot({3, 2.5}, {.title = "Loss"}))));
  expect_sound(read_file(svg));
  const std::filesystem::path page = folder.path / "loss.html";
  plot({3, 2.5}).save(page);
  CHECK(flaw_in(read_file(page)) == "");
  CHECK(read_file(page).find("<td class=\"n\">2.500</td>") != std::string::npos);
  plot({3, 2.5}, {.title = "Loss"}).save(page);
  CHECK(count_of(read_file(page), ">Loss<") == 2);  // in the tab and once on the page
  bars({"a"}, {1}).save(svg);
  CHECK(read_file(svg).find("class=\"bar\"") != std::string::npos);
  heat_map(ones({1, 1})).save(svg);
  CHECK(read_file(svg).find("class=\"heat\"") != std::string::npos);
  Panels{.panels = {plot({1, 2})}}.save(svg);
  CHECK(read_file(svg).find("class=\"curve\"") != std::string::npos);

  CHECK_THROWS_WITH_AS(plot({1}, {.title = "T"}).save("loss.png"),
                       "LineChart \"T\": cannot save \"loss.png\": expects a name that ends in .svg or "
                       ".html; browsers and programs such as Inkscape convert .svg to other formats",
                       Error);
  CHECK_THROWS_AS(bars({"a"}, {1}).save("loss"), Error);
  const std::string missing = (folder.path / "none" / "loss.svg").string();
  CHECK_THROWS_AS(plot({1}).save(missing), Error);
  CHECK(!std::filesystem::exists(folder.path / "none"));
}

TEST_CASE("a stream gets the chart as text") {
  std::ostringstream out;
  out << plot({1, 2}) << bars({"a"}, {1}) << heat_map(ones({1, 1}));
  CHECK(out.str() == terminal(plot({1, 2})) + terminal(bars({"a"}, {1})) + terminal(heat_map(ones({1, 1}))));
}

TEST_CASE("a long series is drawn quickly and takes little space") {
  const LineChart chart = plot(arange(200000));
  CHECK(draw(chart).size() < 8000);
  CHECK(terminal(chart, {.ascii = false}).size() < 8000);
}
