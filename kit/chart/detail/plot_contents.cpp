#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/clip.h"
#include "gradus/kit/chart/detail/plot_area.h"

namespace gradus::kit {
namespace {

constexpr Point nowhere = {std::numeric_limits<double>::quiet_NaN(), 0};  // equals no point

bool inside(const Box& box, Point p) {
  constexpr double slack = 0.5;
  return p.x >= box.left - slack && p.x <= box.right + slack && p.y >= box.top - slack &&
         p.y <= box.bottom + slack;
}

std::vector<Point> points_of(const Plot& plot, const Series& series, const std::vector<double>& values) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < values.size(); ++i) points.push_back({plot.x(series.x[i]), plot.y(values[i])});
  return points;
}

PathData curve(const Box& box, const std::vector<Point>& points) {
  PathData path;
  Point pen = nowhere;  // the end of the last segment
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point a = points[i - 1];
    const Point b = points[i];
    const auto part = drawable(a) && drawable(b) ? clipped(box, a, b) : std::nullopt;
    if (!part) {
      pen = nowhere;
      continue;
    }
    const bool goes_on = pen.x == part->first.x && pen.y == part->first.y;
    if (!goes_on) path.move_to(part->first.x, part->first.y);
    path.line_to(part->second.x, part->second.y);
    pen = part->second;
  }
  return path;
}

// One closed outline for each run of points with both ends: along the upper ends and back along the lower
// ones.
PathData band(const Plot& plot, const Series& series) {
  const auto within = [&](Point p) {
    return Point{std::clamp(p.x, plot.box.left, plot.box.right),
                 std::clamp(p.y, plot.box.top, plot.box.bottom)};
  };
  const std::vector<Point> upper = points_of(plot, series, series.high);
  const std::vector<Point> lower = points_of(plot, series, series.low);
  PathData path;
  for (std::size_t start = 0; start < upper.size();) {
    std::size_t stop = start;
    while (stop < upper.size() && drawable(upper[stop]) && drawable(lower[stop])) ++stop;
    for (std::size_t i = start; i < stop; ++i) {
      const Point p = within(upper[i]);
      i == start ? path.move_to(p.x, p.y) : path.line_to(p.x, p.y);
    }
    for (std::size_t i = stop; i-- > start;) {
      const Point p = within(lower[i]);
      path.line_to(p.x, p.y);
    }
    if (stop > start) path.close();
    start = stop + 1;
  }
  return path;
}

PathData error_bars(const Plot& plot, const Series& series) {
  constexpr double cap = 3.5;
  PathData path;
  for (std::size_t i = 0; i < series.low.size(); ++i) {
    const double x = plot.x(series.x[i]);
    const double top = std::max(plot.y(series.high[i]), plot.box.top);
    const double bottom = std::min(plot.y(series.low[i]), plot.box.bottom);
    if (!drawable({x, top}) || !drawable({x, bottom}) || bottom < top) continue;
    path.move_to(x - cap, top).line_to(x + cap, top);
    path.move_to(x, top).line_to(x, bottom);
    path.move_to(x - cap, bottom).line_to(x + cap, bottom);
  }
  return path;
}

// Marks all of a few points; of many, five, at different positions for each style, and the ends of a line at
// gaps, and isolated points.
bool is_marked(const Series& series, const std::vector<Point>& points, std::size_t i) {
  if (!series.markers) return false;
  if (!series.line || series.every_marker || points.size() <= few_points) return true;
  const bool last = i + 1 == points.size();
  if (last ? !drawable(points[i - 1]) : !drawable(points[i + 1])) return true;
  for (int mark = 0; mark < 5; ++mark) {
    const double share = (mark + 0.2 + 0.2 * (series.style.value_or(0) % 4)) / 5;
    if (i == static_cast<std::size_t>(share * static_cast<double>(points.size() - 1))) return true;
  }
  return false;
}

void draw_series(Svg& svg, const Plot& plot, const Series& series) {
  const int style = series.style.value_or(0);
  const std::vector<Point> points = points_of(plot, series, series.y);
  PathData markers;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (drawable(points[i]) && inside(plot.box, points[i]) && is_marked(series, points, i)) {
      add_marker(markers, style, points[i].x, points[i].y, 3.6);
    }
  }
  svg.begin_group(style_class(style));
  if (series.spread == Spread::error_bars) svg.path("bars", error_bars(plot, series));
  if (series.line) svg.path("curve", curve(plot.box, points), dashes(style));
  svg.path("marks", markers);
  svg.end_group();
}

}  // namespace

void draw_contents(Svg& svg, const Plot& plot, const LineChart& chart) {
  for (const Series& series : chart.series) {
    if (series.spread != Spread::band || series.low.empty()) continue;
    svg.begin_group(style_class(series.style.value_or(0)));
    svg.path("band", band(plot, series));
    svg.end_group();
  }
  draw_reference_lines(svg, plot, chart);
  for (const Series& series : chart.series) draw_series(svg, plot, series);
  draw_reference_labels(svg, plot, chart);
}

}  // namespace gradus::kit
