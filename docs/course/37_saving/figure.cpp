// The figure of chapter 37: the distance of runs resumed at step 55 from the run that was never stopped.

#include <algorithm>
#include <vector>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr int kStopped = 55, kLast = 100;

struct SmallNet : nn::Module {
  Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
  nn::Linear fc1 = add("fc1", nn::Linear(2, 8)), fc2 = add("fc2", nn::Linear(8, 1));
};

std::array<Tensor, 2> points(Generator generator = Generator(7)) {
  const Tensor x = randn({160, 2}, generator);
  return {x, x.square().sum(-1, true)};
}

/// As in the chapter's program.
struct Run {
  SmallNet net;
  optim::Adam opt{net.parameters(), {.lr = optim::warmup_linear(0.05, 10)}};
  data::DataLoader<2> loader{points(), {.batch_size = 16, .shuffle = true, .generator = Generator(7)}};
  void step() {
    const auto [x, y] = loader.next();
    opt.zero_grad();
    mse_loss(net(x), y).backward();
    opt.step();
  }
  Tensor weights() const {
    std::vector<Tensor> all;
    for (const auto& [name, w] : net.state_dict()) all.push_back(w.detach().clone().flatten());
    return cat(all, 0);
  }
};

kit::LineChart draw() {
  manual_seed(0);
  {  // random numbers that the chapter's program has drawn before this point
    const SmallNet net, other;
    randn({5, 2});
    const nn::Linear fc1(2, 16), head(16, 1);
  }
  Run unbroken;
  for (int i = 0; i < kStopped; ++i) unbroken.step();
  std::vector<Run> runs(3);
  for (std::size_t kept = 0; kept < runs.size(); ++kept) {
    runs[kept].net.load_state_dict(unbroken.net.state_dict());
    if (kept > 0) runs[kept].opt.load_state_dict(unbroken.opt.state_dict());
    if (kept > 1) runs[kept].loader.load_state_dict(unbroken.loader.state_dict());
  }
  std::vector<kit::Series> far{{.name = "weights", .markers = false, .style = 1},
                               {.name = "and optimizer", .markers = false, .style = 2},
                               {.name = "and loader", .markers = false, .style = 0}};
  for (int step = kStopped; step <= kLast; ++step) {
    for (std::size_t kept = 0; kept < runs.size(); ++kept) {
      far[kept].x.push_back(step);
      far[kept].y.push_back((runs[kept].weights() - unbroken.weights()).abs().max().item());
      runs[kept].step();
    }
    unbroken.step();
  }
  return {.title = "A run is resumed after step 55",
          .description = "It equals the uninterrupted run only with weights, optimizer and loader.",
          .x_label = "step",
          .y_label = "largest difference of a weight",
          .series = far};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
