// The picture of chapter 9: how far I + the sum of the branches' Jacobians is from the Jacobian of a residual
// stack.

#include <cmath>
#include <vector>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t kWidth = 32, kLayers = 64;
constexpr unsigned kSeeds = 10;

/// |I + sum - product| / |product| in percent after each of 64 branches W2 relu(W1 x), W1 and W2 from N(0,
/// v/d).
kit::Series errors(const char* name, double v, int style) {
  kit::Series series{.name = name, .markers = false, .style = style};
  std::vector<double> sums(kLayers);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Generator generator(seed);
    const auto random = [&](const Shape& shape) { return randn(shape, generator).to(f64); };
    Tensor x = random({kWidth}), product = eye(kWidth).to(f64), sum = product;
    for (double& error : sums) {
      const Tensor w1 = random({kWidth, kWidth}) * std::sqrt(v / kWidth);
      const Tensor w2 = random({kWidth, kWidth}) * std::sqrt(v / kWidth);
      const Tensor h = linear(x, w1);
      const Tensor jacobian = matmul(w2 * (h > 0).to(f64), w1);  // W2 diag(1 where h > 0) W1
      sum = sum + jacobian;
      product = product + matmul(jacobian, product);
      x = x + linear(relu(h), w2);
      error += 100 * ((sum - product).norm() / product.norm()).item() / kSeeds;
    }
  }
  for (std::int64_t l = 1; l < kLayers; ++l) {  // with one branch the sum is the product
    series.x.push_back(static_cast<double>(l + 1));
    series.y.push_back(sums[static_cast<std::size_t>(l)]);
  }
  return series;
}

kit::LineChart draw() {
  return {
      .title = "How wrong the sum of Jacobians is",
      .description =
          "With N(0, 1/d) it is all wrong after about ten branches, with N(0, 0.02^2) hardly wrong at all.",
      .x_label = "branches",
      .y_label = "error in % of dx_L/dx_0",
      .x_axis = kit::AxisKind::log,
      .y_axis = kit::AxisKind::log,
      .series = {errors("N(0, 1/d)", 1, 0), errors("N(0, 1/(3d))", 1.0 / 3, 1),
                 errors("N(0, 0.02^2)", 0.02 * 0.02 * kWidth, 2)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
