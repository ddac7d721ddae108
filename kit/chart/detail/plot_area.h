#pragma once
// The plot area of a chart: axes, curves and references in a rectangle. LineChart and Panels add titles,
// labels and legends.

#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

inline constexpr std::size_t few_points = 12;  // of a series with so few, every point is marked

/// A rectangle with its two scales and the marks on them.
struct Plot {
  Box box;
  Scale x;
  Scale y;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;

  /// Chooses scales and marks for a rectangle; `x_marks` replace the round values of the x axis.
  Plot(const Box& box, const LineChart& axes, Range x_values, Range y_values,
       const std::vector<double>& x_marks);
};

/// The width of the y axis' labels, to the left of the rectangle.
double y_tick_room(AxisKind kind, Range values, double height);

struct AxisNumbers {
  bool below = true;
  bool beside = true;
  bool inward = false;  // labels at the ends of the x axis do not extend beyond it
};
void draw_axes(Svg& svg, const Plot& plot, AxisNumbers numbers = {});
/// Draws bands, then references, curves, markers and the references' labels where they hide least.
void draw_contents(Svg& svg, const Plot& plot, const LineChart& chart);
void draw_reference_lines(Svg& svg, const Plot& plot, const LineChart& chart);
void draw_reference_labels(Svg& svg, const Plot& plot, const LineChart& chart);

/// Draws samples with names, in one or more rows; returns their height. Draws nothing if `svg` is null.
double draw_legend(Svg* svg, const std::vector<Series>& series, double left, double top, double width);

}  // namespace gradus::kit
