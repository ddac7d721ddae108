// The picture of chapter 29: the sharpness when the matrices of a net are scaled, without and with a norm.

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

/// The sharpness of a net, whose matrices are multiplied by c = 1, 2, .., 16, over that at c = 1. Only the
/// matrices are trained; behind each are a norm, or none, and a leaky relu.
kit::Series sharpness_by_scale(const char* name, int matrices, bool norm, int style) {
  Generator generator(0);
  const Tensor x = randn({64, 4}, generator, f64), y = sin(x.sum(-1));
  const Tensor readout = randn({16}, generator, f64) / 4;
  const TensorList start = {randn({4, 16}, generator, f64) / 2, randn({16, 16}, generator, f64) / 4};
  const auto loss = [&](const TensorList& w) {
    Tensor h = x;
    for (const Tensor& matrix : w) {
      h = matmul(h, matrix);
      h = leaky_relu(norm ? layer_norm(h, {}, {}, 0) : h);
    }
    return mse_loss(matmul(h, readout), y);
  };
  kit::Series series{.name = name, .style = style};
  double first = 0;
  for (double c = 1; c <= 16; c *= 2) {
    TensorList w;
    for (int i = 0; i < matrices; ++i) w.push_back((c * start[static_cast<std::size_t>(i)]).requires_grad_());
    const double s = sharpness(loss, w).value;
    if (c == 1) first = s;
    series.x.push_back(c);
    series.y.push_back(s / first);
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "Sharpness of a net whose matrices are scaled",
          .description =
              "Level for one matrix, rising for two without norms, falling with the square with norms.",
          .x_label = "factor of the matrices",
          .y_label = "sharpness over that at factor 1",
          .x_axis = kit::AxisKind::log,
          .y_axis = kit::AxisKind::log,
          .x_ticks = {1, 2, 4, 8, 16},
          .series = {sharpness_by_scale("two matrices", 2, false, 1),
                     sharpness_by_scale("one matrix", 1, false, 0),
                     sharpness_by_scale("two matrices, with norms", 2, true, 2)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
