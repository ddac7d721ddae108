// References: their lines, and their labels where they hide the least of the curves.

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/plot_area.h"

namespace gradus::kit {
namespace {

void draw_reference(Svg& svg, const Plot& plot, const Reference& reference) {
  const Box& box = plot.box;
  const double x = plot.x(reference.at);
  const double y = plot.y(reference.at);
  if (reference.direction == Direction::horizontal && y >= box.top && y <= box.bottom) {
    svg.line("ref", box.left, y, box.right, y);
  }
  if (reference.direction == Direction::vertical && x >= box.left && x <= box.right) {
    svg.line("ref", x, box.top, x, box.bottom);
  }
}

// Possible places for a reference's label, next to its line.
std::vector<Box> places_for(const Plot& plot, const Reference& reference) {
  constexpr double height = 15;
  const Box& box = plot.box;
  const double width = text_width(reference.label, text_size);
  std::vector<Box> places;
  const auto add = [&](double left, double top) {
    places.push_back({left, top, left + width, top + height});
  };
  if (reference.direction == Direction::horizontal) {
    const double y = plot.y(reference.at);
    const double first = box.left + 4;
    const double last = box.right - width - 3;
    for (const double share : {1.0, 0.0, 0.5, 0.25, 0.75}) {
      add(first + share * (last - first), y - height - 1);
      add(first + share * (last - first), y + 2);
    }
  } else {
    const double x = plot.x(reference.at);
    for (double top = box.top + 1; top + height < box.bottom; top += height) {
      add(x + 4, top);
      add(x - width - 4, top);
    }
  }
  std::erase_if(places, [&](const Box& place) {
    return place.top < box.top - 2 || place.bottom > box.bottom + 1 || place.left < box.left - 1 ||
           place.right > box.right + 30 || place.left < 0;
  });
  return places;
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

bool inside(const Box& box, double x, double y) {  // false for NaN
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

// How much of the curves a label at this place would hide: the points along them, a few pixels apart, and the
// marks, which count more.
int hidden(const Plot& plot, const LineChart& chart, const Box& place, const std::vector<Box>& taken) {
  constexpr double step = 3, mark = 2;  // pixels
  const Box around{place.left - mark, place.top - mark, place.right + mark, place.bottom + mark};
  int count = 0;
  for (const Box& other : taken) count += overlap(place, other) ? 1000 : 0;
  for (const Series& series : chart.series) {
    const bool marked =
        series.markers && (!series.line || series.every_marker || series.x.size() <= few_points);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const std::size_t before = i == 0 ? 0 : i - 1;
      const double x = plot.x(series.x[i]);
      const double y = plot.y(series.y[i]);
      const double dx = plot.x(series.x[before]) - x;
      const double dy = plot.y(series.y[before]) - y;
      const double length = std::hypot(dx, dy);  // NaN and infinite next to a missing value
      const int steps = length < 5000 ? static_cast<int>(length / step) + 1 : 1;
      count += inside(place, x, y) ? 1 : 0;
      for (int k = 1; k < steps; ++k) {
        count += inside(place, x + k * dx / steps, y + k * dy / steps) ? 1 : 0;
      }
      count += marked && inside(around, x, y) ? 3 : 0;
    }
  }
  return count;
}

}  // namespace

void draw_reference_lines(Svg& svg, const Plot& plot, const LineChart& chart) {
  for (const Reference& reference : chart.references) draw_reference(svg, plot, reference);
}

void draw_reference_labels(Svg& svg, const Plot& plot, const LineChart& chart) {
  std::vector<Box> taken;
  for (const Reference& reference : chart.references) {
    const std::vector<Box> places = places_for(plot, reference);
    if (reference.label.empty() || places.empty()) continue;
    const auto cost = [&](const Box& place) { return hidden(plot, chart, place, taken); };
    const Box best = *std::min_element(places.begin(), places.end(),
                                       [&](const Box& a, const Box& b) { return cost(a) < cost(b); });
    svg.text("halo", best.left, best.bottom - 4, Anchor::start, reference.label);
    taken.push_back(best);
  }
}

}  // namespace gradus::kit
