// The picture of chapter 6: gradient descent on a line, at four rates.

#include <cmath>

#include "docs/draw/course_figure.h"

namespace gradus::docs {

namespace {

/// The loss of w x + b against y = 2 x + 1 before each of 40 steps from w = b = 0; the mean of x is 0.
kit::Series losses_at(double rate, const char* name, int style) {
  constexpr double kMeanSquare = 3.1;  // of x, as in the program
  kit::Series series{.name = name, .markers = false, .style = style};
  double w = 0, b = 0;
  for (int step = 0; step <= 40; ++step) {
    series.x.push_back(step);
    series.y.push_back(kMeanSquare * (w - 2) * (w - 2) + (b - 1) * (b - 1));
    w -= rate * 2 * kMeanSquare * (w - 2);
    b -= rate * 2 * (b - 1);
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "A line learned at four rates",
          .description = "Slowly down at 0.01, fastest at 0.2, slowly again at 0.3, and upward at 0.33.",
          .x_label = "step",
          .y_label = "loss",
          .y_axis = kit::AxisKind::log,
          .y_low = 1e-6,
          .y_high = 1e3,
          .series = {losses_at(0.01, "rate 0.01", 0), losses_at(0.2, "rate 0.2", 1),
                     losses_at(0.3, "rate 0.3", 2), losses_at(0.33, "rate 0.33", 3)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
