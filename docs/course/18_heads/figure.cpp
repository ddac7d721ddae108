// The figure of chapter 18: the size of scores by the width of the head, with the root and without.

#include <cmath>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

kit::LineChart draw() {
  kit::Series plain{.name = "q k", .style = 1}, scaled{.name = "q k / sqrt(D)", .style = 0};
  for (std::int64_t D = 4; D <= 1024; D *= 2) {
    Generator generator(1);
    const Tensor q = randn({400, D}, generator).to(f64), k = randn({16, D}, generator).to(f64);
    const Tensor scores = matmul(q, k.t());
    for (kit::Series* series : {&plain, &scaled}) {
      const double root = series == &scaled ? std::sqrt(static_cast<double>(D)) : 1;
      series->x.push_back(static_cast<double>(D));
      series->y.push_back((scores / root).max(-1).mean().item());
    }
  }
  return {.title = "The largest score of 16 keys",
          .description =
              "Without the root it grows like the root of D, from about 3 to about 60; with it, it stays "
              "near 1.8.",
          .x_label = "D, channels of a head",
          .y_label = "largest score (mean of 400 queries)",
          .x_axis = kit::AxisKind::log,
          .y_axis = kit::AxisKind::log,
          .y_low = 1,
          .y_high = 70,
          .x_ticks = {4, 16, 64, 256, 1024},
          .series = {plain, scaled}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
