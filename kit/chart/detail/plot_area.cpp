#include "gradus/kit/chart/detail/plot_area.h"

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/detail/chart_style.h"

namespace gradus::kit {
namespace {

constexpr double tick_length = 4;

int y_ticks_wanted(double height) { return std::max(2, static_cast<int>(height / 32)); }

// Removes labels that would touch the one before, but keeps their marks.
void thin_out(std::vector<Tick>& ticks, const Scale& scale) {
  double taken = -1e9;
  for (Tick& tick : ticks) {
    const double half = text_width(tick.label, text_size) / 2;
    const double place = scale(tick.value);
    if (place - half < taken + 5) tick.label.clear();
    if (!tick.label.empty()) taken = place + half;
  }
}

std::vector<Tick> x_ticks_for(const Scale& scale, const std::vector<double>& marks) {
  const double room = std::abs(scale.to() - scale.from());
  const int wanted = std::max(2, static_cast<int>(room / 58));
  std::vector<Tick> ticks =
      marks.empty() ? nice_ticks(scale.kind(), scale.values(), wanted) : ticks_at(marks, scale.values());
  thin_out(ticks, scale);
  return ticks;
}

}  // namespace

Plot::Plot(const Box& rectangle, const LineChart& axes, Range x_values, Range y_values,
           const std::vector<double>& x_marks)
    : box(rectangle),
      x(axes.x_axis, x_values, rectangle.left, rectangle.right),
      y(axes.y_axis, y_values, rectangle.bottom, rectangle.top),
      x_ticks(x_ticks_for(x, x_marks)),
      y_ticks(nice_ticks(axes.y_axis, y_values, y_ticks_wanted(rectangle.height()))) {}

double y_tick_room(AxisKind kind, Range values, double height) {
  double widest = 0;
  for (const Tick& tick : nice_ticks(kind, values, y_ticks_wanted(height))) {
    widest = std::max(widest, text_width(tick.label, text_size));
  }
  return widest + tick_length + 3;
}

void draw_axes(Svg& svg, const Plot& plot, AxisNumbers numbers) {
  const Box& box = plot.box;
  for (const Tick& tick : plot.y_ticks) {
    const double y = plot.y(tick.value);
    if (!tick.label.empty()) svg.line("grid", box.left, y, box.right, y);
    if (numbers.beside) svg.text("soft", box.left - tick_length - 2, y + 4.4, Anchor::end, tick.label);
  }
  svg.line("axis", box.left, box.bottom, box.right, box.bottom);
  for (const Tick& tick : plot.x_ticks) {
    const double x = plot.x(tick.value);
    svg.line("axis", x, box.bottom, x, box.bottom + tick_length);
    if (numbers.below && !tick.label.empty()) {
      const double half = text_width(tick.label, text_size) / 2;
      const bool first = numbers.inward && x - half < box.left;
      const bool last = numbers.inward && x + half > box.right;
      const Anchor anchor = first ? Anchor::start : last ? Anchor::end : Anchor::middle;
      const double place = first ? box.left : last ? box.right : x;
      svg.text("soft", place, box.bottom + tick_length + 12.5, anchor, tick.label);
    }
  }
}

double draw_legend(Svg* svg, const std::vector<Series>& series, double left, double top, double width) {
  constexpr double sample = 30;
  constexpr double row_height = 19;
  double x = left;
  double y = top + row_height / 2;
  for (const Series& one : series) {
    const double needed = sample + 6 + text_width(one.name, text_size);
    if (x > left && x + needed > left + width) x = left, y += row_height;
    if (svg != nullptr) {
      const int style = one.style.value_or(0);
      svg->begin_group(style_class(style));
      if (one.line) svg->line("curve", x, y, x + sample, y, dashes(style));
      PathData marker;
      if (one.markers) add_marker(marker, style, x + sample / 2, y, 4);
      svg->path("marks", marker);
      svg->end_group();
      svg->text("", x + sample + 6, y + 4.4, Anchor::start, one.name);
    }
    x += needed + 16;
  }
  return series.empty() ? 0 : y + row_height / 2 - top;
}

}  // namespace gradus::kit
