#pragma once
// The inside of a chart: axes, curves and references in a rectangle. LineChart and Panels add what is around
// it.

#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// A rectangle with its two scales and the marks on them.
struct Plot {
  Box box;
  Scale x;
  Scale y;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;

  /// Chooses scales and marks for a rectangle; `x_marks` replace the round numbers of the x axis.
  Plot(const Box& box, const LineChart& axes, Range x_values, Range y_values,
       const std::vector<double>& x_marks);
};

/// Room the numbers of the y axis take to the left of the rectangle.
double y_tick_room(AxisKind kind, Range values, double height);

struct AxisNumbers {
  bool below = true;
  bool beside = true;
  bool inward = false;  // numbers at the ends of the x axis stay within it
};
void draw_axes(Svg& svg, const Plot& plot, AxisNumbers numbers = {});
/// Bands first, then references, curves, markers and the references' labels, where they hide least.
void draw_contents(Svg& svg, const Plot& plot, const LineChart& chart);
void draw_reference_lines(Svg& svg, const Plot& plot, const LineChart& chart);
void draw_reference_labels(Svg& svg, const Plot& plot, const LineChart& chart);

/// A row or more of samples with names; returns the height it takes. Draws nothing without `svg`.
double draw_legend(Svg* svg, const std::vector<Series>& series, double left, double top, double width);

}  // namespace gradus::kit
