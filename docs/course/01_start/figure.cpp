// The figure of chapter 1: a function and its tangent.

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

kit::LineChart draw() {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const Tensor at = tensor(2.0).requires_grad_();
  cube(at).backward();
  const double slope = at.grad().item(), here = cube(at.detach()).item();
  kit::Series curve{.name = "f(x) = x³", .markers = false, .style = 0};
  kit::Series tangent{.name = "f(2) + 12 (x − 2)", .markers = false, .style = 1};
  for (int i = 0; i <= 60; ++i) {
    const double x = 0.05 * i;
    curve.x.push_back(x);
    curve.y.push_back(cube(tensor(x)).item());
    if (x < 1.2) continue;
    tangent.x.push_back(x);
    tangent.y.push_back(here + slope * (x - 2));
  }
  return {.title = "A slope predicts the effect of a small step",
          .description = "The line touches the curve at x = 2 and leaves it on both sides.",
          .x_label = "x",
          .y_label = "f(x)",
          .series = {curve, tangent},
          .references = {{.direction = kit::Direction::vertical, .at = 2, .label = "x = 2"}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
