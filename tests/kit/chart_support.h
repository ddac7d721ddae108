#pragma once
// Shared by the tests of charts.

#include <doctest/doctest.h>

#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/chart/chart.h"
#include "markup.h"

namespace gradus::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline kit::LineChart simple(std::vector<double> y) {
  kit::LineChart chart{.title = "T", .x_label = "step", .y_label = "loss (nats)"};
  kit::Series series{.name = "Pre-LN"};
  for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(static_cast<double>(i));
  series.y = std::move(y);
  chart.series = {series};
  return chart;
}

// Coordinates contain only numbers, and the markup is well formed.
inline void expect_sound(const std::string& svg) {
  CHECK(flaw_in(svg) == "");
  CHECK_FALSE(std::regex_search(svg, std::regex("=\"[^\"]*(nan|inf)")));
  CHECK_FALSE(std::regex_search(svg, std::regex("=\"[-0-9]{10}")));  // what NaN may become
  CHECK(svg.find("role=\"img\"") != std::string::npos);
  CHECK(count_of(svg, "<title>") == 1);
  CHECK(count_of(svg, "<desc>") == 1);
}

}  // namespace gradus::test
