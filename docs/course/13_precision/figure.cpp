// The figure of chapter 13: the largest relative error of rounding, against the size of a value.

#include <algorithm>
#include <cmath>

#include "docs/draw/course_figure.h"

namespace gradus::docs {

namespace {

/// The bits of fraction, and the exponents of the values that have all of them.
struct Format {
  const char* name;
  int fraction, lowest, highest;
};

/// Half a spacing over 2^k. Below 2^lowest the spacing is constant, so the error rises, up to a value that
/// becomes 0.
kit::Series largest_error(const Format& format, int style) {
  kit::Series series{.name = format.name, .style = style};
  for (const int k : {format.lowest - format.fraction - 1, format.lowest, format.highest}) {
    series.x.push_back(std::ldexp(1.0, k));
    series.y.push_back(std::ldexp(1.0, std::max(k, format.lowest) - format.fraction - 1 - k));
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "Largest relative error of rounding",
          .description =
              "f32 is lowest; bf16 is 65536 times as high over the same range; f16 is 8 times "
              "lower than bf16, between 6e-5 and 65504 alone.",
          .x_label = "size of the value",
          .y_label = "error over the value",
          .x_axis = kit::AxisKind::log,
          .y_axis = kit::AxisKind::log,
          .x_ticks = {1e-40, 1e-20, 1, 1e20},
          .series = {largest_error({"f32", 23, -126, 127}, 0), largest_error({"bf16", 7, -126, 127}, 1),
                     largest_error({"f16", 10, -14, 15}, 2)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
