// Regression: fit a line to points with outliers, using three losses.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

double slope_learned(Tensor (*loss)(const Tensor&, const Tensor&), const Tensor& x, const Tensor& y) {
  manual_seed(1);
  const nn::Linear line(1, 1);
  optim::RAdam opt(line.parameters(), {.lr = 0.05});
  for (int step = 0; step < 1000; ++step) {
    opt.zero_grad();
    loss(line(x), y).backward();
    opt.step();
  }
  return line.weight.item();
}

int main() {
  manual_seed(0);
  const Tensor x = linspace(-1, 1, 200).unsqueeze(1);  // [200, 1]
  const Tensor y = 3 * x + 1 + 0.1 * randn(x.shape());
  y[(x > 0.5) & (rand(x.shape()) < 0.5)] -= 8;  // outliers, all on one side

  using T = const Tensor&;
  std::printf("true slope 3\n");
  std::printf("mse_loss   %.1f\n", slope_learned([](T a, T b) { return mse_loss(a, b); }, x, y));
  std::printf("l1_loss    %.1f\n", slope_learned([](T a, T b) { return l1_loss(a, b); }, x, y));
  std::printf("huber_loss %.1f\n",
              slope_learned([](T a, T b) { return huber_loss(a, b, Reduction::mean, 0.3); }, x, y));
}
