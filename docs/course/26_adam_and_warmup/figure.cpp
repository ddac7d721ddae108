// The figure of chapter 26: Adam's steps when gradients are noise.

#include <cmath>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

/// Root mean square of Adam's steps on gradients N(0, 1), in units of the peak rate.
kit::Series noise_steps(const char* name, const optim::Schedule& lr, int style) {
  kit::Series series{.name = name, .style = style};
  Generator generator(1);
  Tensor w = zeros({4000}).requires_grad_();
  optim::Adam opt({w}, {.lr = lr});
  for (int step = 1; step <= 300; ++step) {
    const Tensor before = w.detach().clone();
    w.set_grad(randn(w.shape(), generator));
    opt.step();
    series.x.push_back(step);
    series.y.push_back((w.detach() - before).square().mean().sqrt().item());
  }
  return series;
}

kit::LineChart draw() {
  return {.title = "Length of Adam's steps when gradients are noise",
          .description = "Without warm-up the first steps have full length and random directions.",
          .x_label = "step",
          .y_label = "root mean square step / peak rate",
          .x_axis = kit::AxisKind::log,
          .y_low = 0,
          .series = {noise_steps("constant rate", 1.0, 1),
                     noise_steps("warm-up over 100 steps", optim::warmup_linear(1.0, 100), 0)}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
