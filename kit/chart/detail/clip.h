#pragma once
// Points of curves, and the parts of curves inside a rectangle.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gradus/kit/chart/detail/plot_area.h"

namespace gradus::kit {

struct Point {
  double x, y;
};

inline bool drawable(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

/// The part of a segment inside the box (Liang and Barsky), so that curves end at the axes.
inline std::optional<std::pair<Point, Point>> clipped(const Box& box, Point a, Point b) {
  double start = 0;
  double stop = 1;
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double moves[] = {-dx, dx, -dy, dy};
  const double rooms[] = {a.x - box.left, box.right - a.x, a.y - box.top, box.bottom - a.y};
  for (int side = 0; side < 4; ++side) {
    if (moves[side] == 0 && rooms[side] < 0) return std::nullopt;
    if (moves[side] < 0) start = std::max(start, rooms[side] / moves[side]);
    if (moves[side] > 0) stop = std::min(stop, rooms[side] / moves[side]);
  }
  if (start > stop) return std::nullopt;
  return std::pair{Point{a.x + start * dx, a.y + start * dy}, Point{a.x + stop * dx, a.y + stop * dy}};
}

}  // namespace gradus::kit
