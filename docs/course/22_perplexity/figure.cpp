// The figure of chapter 22: the perplexity of a token at the same bits per byte, by the bytes of a token.

#include <cmath>

#include "docs/draw/course_figure.h"

namespace gradus::docs {

namespace {

kit::Series at(double bits_per_byte, const char* name) {
  kit::Series series{.name = name};
  for (double bytes = 1; bytes <= 6; ++bytes) {
    series.x.push_back(bytes);
    series.y.push_back(std::exp2(bits_per_byte * bytes));
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "The perplexity of a token, by its bytes",
          .description =
              "At the same bits per byte the logarithm of the perplexity is proportional to the bytes "
              "of a token.",
          .x_label = "bytes in a token, in the mean",
          .y_label = "perplexity",
          .y_axis = kit::AxisKind::log,
          .series = {at(2, "2 bits per byte"), at(1.5, "1.5 bits per byte"), at(1, "1 bit per byte")}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
