// WGAN-GP: a generator learns from a critic whose slope is held near 1 (Gulrajani et al. 2017).
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const std::int64_t n = 128, steps = 600;
  const nn::Sequential generator(nn::Linear(1, 32), tanh, nn::Linear(32, 1));
  const nn::Sequential critic(nn::Linear(1, 32), tanh, nn::Linear(32, 32), tanh, nn::Linear(32, 1));
  const auto real = [](std::int64_t m) { return 1 + 4 * rand({m, 1}); };  // between 1 and 5
  const auto fake = [&](std::int64_t m) { return generator(randn({m, 1})); };
  const auto distance = [&] {  // Wasserstein's: on a line, between the sorted samples
    const NoGrad guard;
    return (sort(real(4096), 0).first - sort(fake(4096), 0).first).abs().mean().item();
  };
  const auto adam = [](const nn::Module& net, std::int64_t total) {
    return optim::Adam(net.parameters(), {.lr = optim::warmup_cosine(5e-3, 10, total), .betas = {0.5, 0.9}});
  };
  optim::Adam of_generator = adam(generator, steps), of_critic = adam(critic, 3 * steps);
  std::printf("before: distance %.2f\n", distance());
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int i = 0; i < 3; ++i) {
      const Tensor x = real(n), z = fake(n).detach(), mix = rand({n, 1});
      const Tensor between = (mix * x + (1 - mix) * z).requires_grad_();
      const Tensor slope = grad(critic(between).sum(), {between}, {.create_graph = true})[0];
      const Tensor penalty = (slope.norm(2, -1) - 1).square().mean();
      of_critic.zero_grad();
      (critic(z).mean() - critic(x).mean() + 0.1 * penalty).backward();
      of_critic.step();
    }
    of_generator.zero_grad();
    (-critic(fake(n)).mean()).backward();
    of_generator.step();
  }
  std::printf("after: distance %.2f\n", distance());
}
