// The figure of chapter 31: the schedules of the library.

#include <cmath>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

template <class F>
kit::Series sampled(const char* name, const F& f, double last, int style) {
  kit::Series series{.name = name, .style = style};
  for (int step = 1; step <= last; step += step < 10 ? 1 : 10) {
    series.x.push_back(step);
    series.y.push_back(f(step) * 1e3);
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "Learning rate schedules, warm-up over 400 steps",
          .description = "All rise in a straight line for 400 steps; then they differ.",
          .x_label = "step",
          .y_label = "learning rate / 0.001",
          .series = {sampled("warmup_linear", optim::warmup_linear(1e-3, 400), 4000, 0),
                     sampled("warmup_cosine", optim::warmup_cosine(1e-3, 400, 4000), 4000, 1),
                     sampled("inverse_sqrt", optim::inverse_sqrt(1e-3, 400), 4000, 2),
                     sampled("noam, d = 512", optim::noam(512, 400), 4000, 3)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
