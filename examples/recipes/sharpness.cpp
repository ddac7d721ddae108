// Sharpness, the loss's largest curvature: gradient descent drives it up to 2 / rate.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  const DefaultDType guard(f64);  // f32 works, too, but at the edge of stability rounding errors grow
  manual_seed(0);
  const nn::Sequential net(nn::Linear(2, 16), tanh, nn::Linear(16, 1));
  const Tensor x = randn({64, 2}), y = sin(x.sum(-1, true));
  const auto loss = [&] { return mse_loss(net(x), y); };

  const double rate = 0.25;
  optim::SGD opt(net.parameters(), {.lr = rate});
  for (int step = 0; step <= 3000; ++step) {
    if (step % 1000 == 0)
      std::printf("step %3d  loss %.4f  sharpness %5.2f, 2 / rate %.1f\n", step, loss().item(),
                  sharpness(loss, net.parameters()).value, 2 / rate);
    opt.zero_grad();
    loss().backward();
    opt.step();
  }
}
