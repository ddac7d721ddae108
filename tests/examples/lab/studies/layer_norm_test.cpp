#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "lab/studies/layer_norm/parts.h"

using namespace gradus::lab;

namespace {

/// Width over height of the first curve of a drawing: "m145.8 185l-.1-1.8-.3-1.8", steps after the first
/// point.
double aspect_of_first_curve(const std::string& svg) {
  const std::string mark = "<path class=\"curve\" d=\"";
  const std::size_t start = svg.find(mark);
  REQUIRE(start != std::string::npos);
  std::string path =
      svg.substr(start + mark.size(), svg.find('"', start + mark.size()) - start - mark.size());
  for (char& letter : path)
    if (letter == 'm' || letter == 'l') letter = ' ';
  double place[2] = {0, 0}, low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  const char* at = path.c_str();
  for (int axis = 0;; axis = 1 - axis) {
    char* end = nullptr;
    const double step = std::strtod(at, &end);
    if (end == at) break;
    at = end;
    place[axis] += step;
    low[axis] = std::min(low[axis], place[axis]);
    high[axis] = std::max(high[axis], place[axis]);
  }
  return (high[0] - low[0]) / (high[1] - low[1]);
}

}  // namespace

TEST_CASE("the circle of normalised tokens is drawn as a circle") {
  StudyResults results{.options = {.budget = Budget::quick}, .records = {}, .planned = 1};
  results.records[layer_norm_parts::plane_run(results.options)] = {.measured =
                                                                       layer_norm_parts::measure_plane(0)};
  Page page{gradus::kit::HtmlReport("layer norm", "")};
  layer_norm_parts::report(page, results);
  const auto plane = std::find_if(page.plots.begin(), page.plots.end(),
                                  [](const auto& plot) { return plot.first == "plane.svg"; });
  REQUIRE(plane != page.plots.end());
  CHECK(aspect_of_first_curve(plane->second) == doctest::Approx(1).epsilon(0.02));
}
