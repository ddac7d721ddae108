// Charts: a run's losses in the terminal and as an image, a bar chart, and a matrix as a heat map.
#include <iostream>

#include "gradus/gradus.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/data/files.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const Tensor x = linspace(-3, 3, 60).unsqueeze(1), y = sin(2 * x);
  std::vector<double> of_sgd, of_adam;
  const auto train = [&](optim::Optimizer& opt, const nn::Sequential& net, std::vector<double>& losses) {
    for (int step = 0; step < 300; ++step) {
      const Tensor loss = mse_loss(net(x), y);
      opt.zero_grad();
      loss.backward();
      opt.step();
      losses.push_back(loss.item());
    }
  };
  const nn::Sequential a(nn::Linear(1, 32), tanh, nn::Linear(32, 1)),
      b(nn::Linear(1, 32), tanh, nn::Linear(32, 1));
  optim::SGD sgd(a.parameters(), {.lr = 0.05});
  optim::Adam adam(b.parameters(), {.lr = 0.01});
  train(sgd, a, of_sgd);
  train(adam, b, of_adam);

  const auto chart = kit::plot({{"SGD", of_sgd}, {"Adam", of_adam}},
                               {.title = "Loss", .x_label = "step", .y_axis = kit::AxisKind::log});
  kit::make_folder("runs/plot");
  chart.save("runs/plot/loss.svg");
  const Tensor q = randn({1, 1, 8, 4});
  kit::heat_map(attention_weights(q, q, {.causal = true})[0][0], {.title = "Who looks at whom"})
      .save("runs/plot/attention.svg");
  std::cout << chart << kit::bars({"SGD", "Adam"}, {of_sgd.back(), of_adam.back()}, {.title = "Last loss"});
  std::cout << "runs/plot has pictures of this run: loss.svg and attention.svg\n";
}
