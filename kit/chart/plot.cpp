#include "gradus/kit/chart/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "gradus/core/check.h"
#include "gradus/core/tensor.h"

namespace gradus::kit {
namespace {

constexpr std::int64_t most_cells = 4096;
constexpr std::int64_t most_shades = 1024;  // rows, and columns

void check_defined(const char* what, const Tensor& x) {
  check(x.defined(), "{}: the tensor is undefined: give it a value first", what);
}

std::vector<double> numbers_in(const Tensor& x) { return x.detach().to(f64).to_vector<double>(); }

std::vector<double> numbers_of_line(const Tensor& x) {
  check_defined("kit::Values", x);
  check(x.dim() == 1,
        "kit::Values: expects a tensor of one axis, got the shape {}; use x.flatten(), draw a matrix with "
        "kit::heat_map(x), or its columns with kit::plot({{{{\"a\", x.select(1, 0)}}, ...}})",
        to_string(x.shape()));
  return numbers_in(x);
}

std::vector<double> counted(std::size_t n) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 0.0);
  return x;
}

bool can_show(AxisKind kind, double value) {
  return std::isfinite(value) && (kind == AxisKind::linear || value > 0);
}

bool has_point(const LineChart& chart, const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (can_show(chart.x_axis, series.x[i]) && can_show(chart.y_axis, series.y[i])) return true;
  }
  return false;
}

void add_line(LineChart& chart, const std::string& name, std::vector<double> x, std::vector<double> y) {
  const std::string which = name.empty() ? "" : fmt::format(" in \"{}\"", name);
  check(!y.empty(), "kit::plot: there are no values{}", which);
  check(x.size() == y.size(), "kit::plot: {} x and {} y{}: expects as many of each", x.size(), y.size(),
        which);
  chart.series.push_back({.name = name, .x = std::move(x), .y = std::move(y)});
}

// An empty chart would look like a valid result.
void check_visible(const LineChart& chart) {
  const bool visible = std::any_of(chart.series.begin(), chart.series.end(),
                                   [&](const Series& series) { return has_point(chart, series); });
  const bool log = chart.x_axis == AxisKind::log || chart.y_axis == AxisKind::log;
  check(visible, "kit::plot: there is no point to draw: {}",
        log ? "on a log axis values must be above 0 and finite" : "all values are NaN or infinite");
}

void check_names(const char* axis, std::size_t names, std::int64_t size, const Tensor& x) {
  check(names == static_cast<std::size_t>(size), "kit::heat_map: {} names for {} {} of {}", names, size, axis,
        to_string(x.shape()));
}

std::vector<std::string> numbered(std::int64_t n) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

Values::Values(const Tensor& x) : numbers_(numbers_of_line(x)) {}

LineChart plot(const Values& y, LineChart chart) {
  add_line(chart, "", counted(y.numbers().size()), y.numbers());
  check_visible(chart);
  return chart;
}

LineChart plot(const Values& x, const Values& y, LineChart chart) {
  add_line(chart, "", x.numbers(), y.numbers());
  check_visible(chart);
  return chart;
}

LineChart plot(std::initializer_list<Line> lines, LineChart chart) {
  for (const Line& line : lines) {
    const std::vector<double>& y = line.y.numbers();
    add_line(chart, line.name, line.x ? line.x->numbers() : counted(y.size()), y);
  }
  check_visible(chart);
  return chart;
}

BarChart bars(std::vector<std::string> names, const Values& values, BarChart chart) {
  return bars(std::move(names), {{"", values}}, std::move(chart));
}

BarChart bars(std::vector<std::string> names, std::initializer_list<Named> series, BarChart chart) {
  check(!names.empty() && series.size() > 0, "kit::bars: there are no values");
  for (const Named& one : series) {
    const std::vector<double>& values = one.values.numbers();
    check(values.size() == names.size(), "kit::bars: {} values{} for {} names", values.size(),
          one.name.empty() ? "" : fmt::format(" in \"{}\"", one.name), names.size());
    chart.series.push_back({.name = one.name, .values = values});
  }
  chart.categories = std::move(names);
  return chart;
}

HeatMap heat_map(const Tensor& x, HeatMap map) {
  check_defined("kit::heat_map", x);
  check(x.dim() == 2, "kit::heat_map: expects a matrix, got the shape {}; {}", to_string(x.shape()),
        x.dim() == 1   ? "see kit::plot(x)"
        : x.dim() == 0 ? "x.item() is a number"
                       : "pick one, as in x[0]");
  check(x.numel() > 0 && (!map.numbers || x.numel() <= most_cells),
        "kit::heat_map: expects 1 to {} elements, got the shape {}; each is a cell to be read: "
        "show a slice, or means of blocks, or only shades with .numbers = false",
        most_cells, to_string(x.shape()));
  check(map.numbers || (x.size(0) <= most_shades && x.size(1) <= most_shades),
        "kit::heat_map: expects at most {} x {} elements, got the shape {}; show a slice, or means of blocks",
        most_shades, most_shades, to_string(x.shape()));
  if (map.rows.empty()) map.rows = numbered(x.size(0));
  if (map.columns.empty()) map.columns = numbered(x.size(1));
  check_names("rows", map.rows.size(), x.size(0), x);
  check_names("columns", map.columns.size(), x.size(1), x);
  map.values = numbers_in(x);
  return map;
}

}  // namespace gradus::kit
