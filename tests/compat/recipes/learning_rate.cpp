// Finding a learning rate: one run in which the rate grows tenfold every 40 steps.
#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

nn::Sequential new_net() {
  manual_seed(0);
  return nn::Sequential(nn::Linear(8, 64), relu, nn::Linear(64, 64), relu, nn::Linear(64, 1));
}

double step(const nn::Sequential& net, optim::Optimizer& opt) {
  const Tensor x = randn({256, 8}), loss = mse_loss(net(x), x.abs().sum(-1, true));
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item();
}

int main() {
  const nn::Sequential net = new_net();
  optim::SGD opt(net.parameters(),
                 {.lr = [](std::int64_t step) { return 1e-5 * std::pow(10, double(step) / 40); }});
  double least = INFINITY, best = 0;
  while (opt.steps() < 160) {
    const double rate = opt.lr(), loss = step(net, opt);
    if (opt.steps() % 40 == 0) std::printf("rate %.0e  loss %.2f\n", rate, loss);
    if (loss < least) least = loss, best = rate;
  }
  const double peak = best / 2;  // below the rate with the lowest loss
  const nn::Sequential fresh = new_net();
  optim::SGD good(fresh.parameters(), {.lr = optim::warmup_cosine(peak, 20, 400)});
  double loss = 0;
  while (good.steps() < 400) loss = step(fresh, good);
  std::printf("warm-up to half the best, then a cosine: loss %.2f\n", loss);
}
