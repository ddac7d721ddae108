// Rare huge gradients and noisy weights: clip the gradient norm and average the weights.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const nn::Linear net(4, 1);
  const Tensor w = tensor({{1.0, -2.0, 3.0, 0.5}});  // the weights to learn
  optim::SGD opt(net.parameters(), {.lr = 0.1});
  optim::EMA ema(net.parameters(), 0.98);
  const auto distance = [&] { return (net.weight - w).norm().item(); };

  int clipped = 0;
  double apart = 0;  // distance to w, over the last 100 steps
  for (int step = 1; step <= 500; ++step) {
    const Tensor x = randn({8, 4});
    const Tensor noise = randn({8, 1}) * (step % 50 == 0 ? 1000 : 1);  // occasionally a corrupt batch
    opt.zero_grad();
    mse_loss(net(x), linear(x, w) + noise).backward();
    if (optim::clip_grad_norm(net.parameters(), 5.0) > 5.0) ++clipped;  // or, by element: clip_grad_value
    opt.step();
    ema.update();
    if (step > 400) apart += distance() / 100;
  }
  std::printf("%d of 500 gradients were clipped\n", clipped);
  std::printf("distance of the weights  %.2f\n", apart);
  const optim::EMA::Use average(ema);  // averaged weights until the end of the scope
  std::printf("distance of the average  %.2f\n", distance());
}
