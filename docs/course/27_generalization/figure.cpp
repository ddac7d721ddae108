// The picture of chapter 27: training and test loss while a net learns 40 examples, without and with decay.

#include <cmath>
#include <string>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr unsigned kSeeds = 5;

/// As in the chapter's program: the loss on examples 0 .. 39, which train, and on 140 .. 2139, every 10
/// steps.
Tensor losses(unsigned seed, double decay) {
  manual_seed(seed);
  const Tensor x = randn({2140, 4});
  const Tensor y = sin(2 * x.slice(1, 0, 1)) + x.slice(1, 1, 2) + randn({2140, 1}) / 2;
  const nn::Sequential net(nn::Linear(4, 64), tanh, nn::Linear(64, 64), tanh, nn::Linear(64, 1));
  std::vector<Tensor> matrices, rest;
  for (const auto& [name, w] : net.named_parameters()) (w.dim() > 1 ? matrices : rest).push_back(w);
  optim::AdamW opt({{matrices, 0.01, decay}, {rest, 0.01, 0}});
  const auto loss = [&](int i, int end) { return mse_loss(net(x.slice(0, i, end)), y.slice(0, i, end)); };
  TensorList rows;
  for (int step = 1; step <= 300; ++step) {
    opt.zero_grad();
    loss(0, 40).backward();
    opt.step();
    if (step % 10 == 0) rows.push_back(stack({loss(0, 40), loss(140, 2140)}).detach());
  }
  return stack(rows);
}

/// The mean over the seeds, of training (0) or test (1).
kit::Series series(const Tensor& means, int set, const char* name, int style) {
  kit::Series result{.name = name, .markers = false, .style = style};
  for (std::int64_t i = 0; i < means.size(0); ++i) result.x.push_back(10.0 * static_cast<double>(i + 1));
  result.y = means.select(1, set).to_vector<double>();
  return result;
}

kit::LineChart draw() {
  const DefaultDType guard(f64);
  TensorList none, some;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    none.push_back(losses(seed, 0));
    some.push_back(losses(seed, 3));
  }
  const Tensor without = stack(none).mean(0), with = stack(some).mean(0);
  return {.title = "A net learns 40 noisy examples",
          .description =
              "Training loss falls to 0 without decay, while test loss falls and then rises; with decay "
              "both end nearer to the noise.",
          .x_label = "step",
          .y_label = "loss, mean of five seeds",
          .y_low = 0,
          .y_high = 1.2,
          .series = {series(without, 1, "test, no decay", 0), series(without, 0, "training, no decay", 1),
                     series(with, 1, "test, decay 3", 2), series(with, 0, "training, decay 3", 3)},
          .references = {{.at = 0.25, .label = "noise"}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
