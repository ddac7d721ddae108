// The picture of chapter 8: the gradient on its way down through layers of relu, for five initial weights.

#include <cmath>
#include <vector>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t kWidth = 64, kLayers = 32, kSeeds = 10;

/// log10 of |dL/dx_l|^2 over |dL/dx_32|^2, the mean of ten seeds, for weights N(0, v/d).
kit::Series gradients(const char* name, double v, int style) {
  kit::Series series{.name = name, .markers = false, .style = style};
  Tensor sums = zeros({kLayers + 1}, f64);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Generator generator(seed);
    Tensor x = randn({kWidth}, generator).to(f64).requires_grad_();
    std::vector<Tensor> xs{x};
    for (std::int64_t l = 0; l < kLayers; ++l) {
      const Tensor w = randn({kWidth, kWidth}, generator).to(f64) * std::sqrt(v / kWidth);
      x = relu(linear(x, w));
      x.retain_grad();
      xs.push_back(x);
    }
    x.backward(randn({kWidth}, generator).to(f64));
    for (std::int64_t l = 0; l <= kLayers; ++l)
      sums[l] += std::log10(xs[static_cast<std::size_t>(l)].grad().square().sum().item() /
                            x.grad().square().sum().item());
  }
  for (std::int64_t l = 0; l <= kLayers; ++l) {
    series.x.push_back(static_cast<double>(l));
    series.y.push_back(sums[l].item() / kSeeds);
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "The gradient on its way down through 32 layers of relu",
          .description = "Straight lines: each layer multiplies by v/2. Only v = 2 preserves the size.",
          .x_label = "layer",
          .y_label = "log10 of |dL/dx|^2 over that at the top",
          .series = {gradients("v = 4", 4, 3), gradients("v = 2, Kaiming", 2, 0),
                     gradients("v = 1, Xavier", 1, 1), gradients("v = 1/3, nn::Linear", 1.0 / 3, 2)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
