// The figure of a chapter: say in one sentence what it shows.

#include "docs/draw/course_figure.h"

namespace gradus::docs {

namespace {

kit::LineChart draw() {
  return {.title = "The mean of 1 to n",
          .description = "It grows by one half with each value.",
          .x_label = "n",
          .y_label = "mean",
          .series = {{.name = "mean", .x = {1, 2, 3, 4}, .y = {1, 1.5, 2, 2.5}}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
