#include "gradus/kit/chart/terminal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "chart_support.h"
#include "gradus/core/creation.h"
#include "gradus/core/error.h"
#include "gradus/kit/chart/plot.h"

using namespace gradus;
using namespace gradus::kit;
using namespace gradus::test;

namespace {

// Expected drawings start with a newline, for readability.
std::string drawn(const auto& chart, const TerminalOptions& options) {
  return "\n" + terminal(chart, options);
}

LineChart rise() { return plot({0, 1, 2, 3}, {.title = "Rise", .x_label = "step", .y_label = "nats"}); }

LineChart crossing() {
  return plot({{"up", {0, 1, 2}}, {"down", {2, 1, 0}}},
              {.references = {{Direction::horizontal, 1, "half"}, {Direction::vertical, 0.5, "early"}}});
}

BarChart two_bars() {
  BarChart chart = bars({"Adam", "SGD"}, {1, 2.75}, {.title = "Loss", .value_label = "nats"});
  chart.references = {{Direction::vertical, 1.5, "chance"}};
  return chart;
}

HeatMap four_cells() {
  return {.title = "Loss",
          .x_label = "rate",
          .y_label = "layers",
          .columns = {"0.1", "0.2"},
          .rows = {"2", "6"},
          .values = {1.25, 2, 4, kNaN},
          .value_label = "nats",
          .missing = "div.",
          .low_is_good = true};
}

}  // namespace

TEST_CASE("terminal: a line in dots, or in ASCII") {
  CHECK(drawn(rise(), {.width = 24, .height = 4, .ascii = false}) == R"(
Rise
nats
  │                ⢀⣀⠤⠖
2 ┤           ⣀⠤⠔⠒⠉⠁
  │     ⣀⡠⠤⠒⠊⠉
0 ┤⣀⠤⠔⠒⠉
  └┬────────────┬───────
   0            2
          step
)");
  CHECK(drawn(rise(), {.width = 24, .height = 4, .ascii = true}) == R"(
Rise
nats
  |                 ***
2 +           ******
  |    *******
0 +****
  ++------------+-------
   0            2
          step
)");
}

TEST_CASE("terminal: a line has gaps at missing values, and an isolated point is drawn") {
  CHECK(drawn(plot({1, 1, kNaN, 2, kNaN, 3, 3}), {.width = 24, .height = 4, .ascii = false}) == R"(
  │                ⠐⠒⠒⠒
  │
2 ┤          •
  │⠤⠤⠤⠤
  └┬───────────────┬────
   0               5
)");
}

TEST_CASE("terminal: several lines have letters or characters, references lie under them") {
  CHECK(drawn(crossing(), {.width = 30, .height = 5, .ascii = false}) == R"(
A up   B down   ┄ half (1)
┊ early (0.5)
2 ┤B⠤⢄⣀  ┊               ⣀⡠⠤⠒
  │    ⠉⠒⠢⠤⣀⡀      ⢀⣀⠤⠔⠒⠉
  │┄┄┄┄┄┄┊┄┄⠈⠉⣒B⢔⣒⠉⠁┄┄┄┄┄┄┄┄┄┄
  │     ⢀⣀⠤⠒⠊⠉    ⠉⠑⠒⠤⣀⡀
0 ┤A⠤⠔⠒⠉⠁┊             ⠈⠉⠒⠢⠤⣀
  └┬────────────────────────┬─
   0                        2
)");
  CHECK(drawn(crossing(), {.width = 30, .height = 5, .ascii = true}) == R"(
* up   o down   - half (1)
: early (0.5)
2 +oo    :                 **
  |  ooooooo        *******
  |------:--oooooo**----------
  |    *******    ooooooo
0 +****  :               oooo
  ++------------------------+-
   0                        2
)");
}

TEST_CASE("terminal: log axes make a power a straight line") {
  const LineChart chart =
      plot({1, 10, 100, 1000}, {1, 100, 1e4, 1e6}, {.x_axis = AxisKind::log, .y_axis = AxisKind::log});
  CHECK(drawn(chart, {.width = 30, .height = 6, .ascii = false}) == R"(
       ┤                   ⣀⠔
       ┤               ⣀⠤⠒⠉
10 000 ┤           ⣀⠤⠒⠉
       ┤       ⣀⠤⠒⠉⠁
       ┤   ⣀⠤⠒⠉
     1 ┤ ⠔⠉
       └─┬─────┬──────┬─────┬─
         1           100
)");
}

TEST_CASE("terminal: bars in eighths with their numbers") {
  CHECK(drawn(two_bars(), {.width = 30, .ascii = false}) == R"(
Loss
nats
┊ chance (1.50)
Adam  1.00 ██████▉   ┊
SGD   2.75 ██████████┊████████
)");
  CHECK(drawn(two_bars(), {.width = 30, .ascii = true}) == R"(
Loss
nats
: chance (1.50)
Adam  1.00 #######   :
SGD   2.75 ##########:########
)");
}

TEST_CASE("terminal: groups of bars, also negative; without room each number has a line") {
  BarChart chart = bars({"2", "6"}, {{"Pre", {1, -0.5}}, {"Post", {kNaN, 0.25}}});
  CHECK(drawn(chart, {.width = 40, .ascii = false}) == R"(
2
  Pre    1.00         │████████████████▋
  Post      –         │
6
  Pre   −0.50 ████████│
  Post   0.25         │████▏
)");
  chart.series[0].low = {0.5, -1};
  chart.series[0].high = {1.5, 0};
  CHECK(drawn(chart, {.width = 20, .ascii = true}) == R"(
2
  Pre: 1.00 (0.50 to
  1.50)
         |#######
  Post: -
         |
6
  Pre: -0.50 (-1.00
  to 0.00)
     ####|
  Post: 0.25
         |##
)");
}

TEST_CASE("terminal: negative bars end in halves") {
  CHECK(drawn(bars({"a", "b", "c"}, {1, -0.3, -0.27}), {.width = 31, .ascii = false}) == R"(
a   1.00      │████████████████
b  −0.30 █████│
c  −0.27 ▐████│
)");
}

TEST_CASE("terminal: given marks, with numbers where these do not touch") {
  LineChart chart = plot({1, 2, 3, 4}, {1, 2, 3, 4});
  chart.x_ticks = {2, 1, 1.25, 1.5, 1.75, 3, 3.5, 4};
  CHECK(drawn(chart, {.width = 24, .height = 3, .ascii = false}) == R"(
4 ┤              ⢀⣀⡠⠤⠔⠒
2 ┤      ⢀⣀⡠⠤⠔⠒⠊⠉⠁
  │ ⠤⠔⠒⠊⠉⠁
  └─┬┬─┬┬─┬─────┬──┬──┬─
    1  1.75     3     4
)");
}

TEST_CASE("terminal: a heat map in shades with numbers") {
  CHECK(drawn(four_cells(), {.width = 40, .ascii = false}) == R"(
Loss
nats, rows: layers, columns: rate
[best]
   0.1      0.2
2  ██[1.25] ▒▒ 2.00
6     4.00     div.
)");
  CHECK(drawn(four_cells(), {.width = 40, .ascii = true}) == R"(
Loss
nats, rows: layers, columns: rate
[best]
   0.1      0.2
2  ##[1.25] :: 2.00
6     4.00     div.
)");
}

TEST_CASE("terminal: without low_is_good, large values are dark and none is the best") {
  HeatMap map = four_cells();
  map.low_is_good = {};
  map.values = {0, 40, 20, kNaN};
  CHECK(drawn(map, {.width = 40, .ascii = true}) == R"(
Loss
nats, rows: layers, columns: rate
   0.1      0.2
2     0     ## 40
6  :: 20       div.
)");
}

TEST_CASE("terminal: a wide heat map has only shades, a wider one is split into pieces") {
  HeatMap map = heat_map(arange(60, f64).reshape({2, 30}), {.low_is_good = true});
  map.values[1] = kNaN;
  CHECK(drawn(map, {.width = 63, .ascii = false}) == R"(
██ 0   ▓▓    ▒▒    ░░       59   × –
columns 0 to 29
0 ██××▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░
1 ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
)");
  CHECK(drawn(map, {.width = 22, .ascii = true}) == R"(
## 0   ++    ::    ..
   59   x -
columns 0 to 19
0 #x+++++++:::::::::::
1 ................
columns 20 to 29
0 ::::......
1
)");
}

TEST_CASE("terminal: options out of range are rejected") {
  CHECK_THROWS_WITH_AS(
      terminal(rise(), {.width = 19}),
      "terminal: expects a width of 20 to 1000 columns, or 0 for that of the terminal, got 19", Error);
  CHECK_THROWS_AS(terminal(two_bars(), {.width = 1001}), Error);
  CHECK_THROWS_AS(terminal(four_cells(), {.width = -1}), Error);
  CHECK_THROWS_WITH_AS(terminal(rise(), {.height = 1}), "terminal: expects a height of 2 to 1000 rows, got 1",
                       Error);
  CHECK_THROWS_AS(terminal(rise(), {.height = 1001}), Error);
  LineChart chart = rise();
  chart.series[0].x.pop_back();
  CHECK_THROWS_AS(terminal(chart), Error);
  BarChart bar = two_bars();
  bar.series[0].values.pop_back();
  CHECK_THROWS_AS(terminal(bar), Error);
  HeatMap map = four_cells();
  map.values.pop_back();
  CHECK_THROWS_AS(terminal(map), Error);
}

TEST_CASE("terminal: labels cannot reach beyond their line") {
  LineChart chart = rise();
  chart.title = "a\x1b[31mb\nc\xff\u202Ed";
  CHECK(terminal(chart, {.ascii = false}).starts_with("a?[31mb c??d\n"));
  chart.title = "\u00E9 \u2013 10\u207B\u00B9\u00B2 \u221E";
  CHECK(terminal(chart, {.ascii = true}).starts_with("? - 10^-12 inf\n"));
}

TEST_CASE("terminal: ASCII unless the locale uses UTF-8") {
  std::vector<std::pair<std::string, std::string>> kept;
  const auto set = [](const std::string& name, const std::string& value) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  };
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    kept.emplace_back(name, value == nullptr ? "" : value);
  }
  const auto plain_with = [&](const char* all, const char* ctype, const char* lang) {
    set("LC_ALL", all), set("LC_CTYPE", ctype), set("LANG", lang);
    const std::string text = terminal(rise());
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  CHECK(plain_with("", "", ""));
  CHECK(plain_with("C", "", "en_US.UTF-8"));
  CHECK(plain_with("", "POSIX", "en_US.UTF-8"));
  CHECK_FALSE(plain_with("", "", "en_US.UTF-8"));
  CHECK_FALSE(plain_with("C.utf8", "C", "C"));
  CHECK_FALSE(plain_with("", "de_DE.UTF-8", "C"));
  for (const auto& [name, value] : kept) set(name, value);
}
