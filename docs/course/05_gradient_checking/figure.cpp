// The figure of chapter 5: the error of a central difference against its step h.

#include <cmath>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

kit::Series difference_errors(DType dtype, const char* name, int style) {
  kit::Series series{.name = name, .style = style};
  const Tensor x = full({}, 0.7, dtype);
  const auto cube = [](const Tensor& z) { return (z * z * z).item(); };
  for (double h = 1e-1; h > 5e-9; h /= 10) {
    series.x.push_back(h);
    series.y.push_back(std::abs((cube(x + h) - cube(x - h)) / (2 * h) - 3 * 0.7 * 0.7));
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "Error of a central difference",
          .description = "Both lines fall with h until rounding dominates, f32 at 1e-3, f64 at 1e-6.",
          .x_label = "h",
          .y_label = "error of the derivative of x^3 at 0.7",
          .x_axis = kit::AxisKind::log,
          .y_axis = kit::AxisKind::log,
          .series = {difference_errors(f32, "f32", 1), difference_errors(f64, "f64", 0)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
