// A physics-informed network: the heat equation u_t = a u_xx from its residual alone (Raissi et al. 2019).
#include <cstdio>
#include <numbers>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const double a = 0.1, pi = std::numbers::pi;
  const nn::Sequential net(nn::Linear(2, 24), tanh, nn::Linear(24, 24), tanh, nn::Linear(24, 1));
  // Start and walls are built in (Lagaris et al. 1998): u = sin(pi x) at t = 0, u = 0 at x = 0 and x = 1.
  const auto u = [&](const Tensor& x, const Tensor& t) {
    return sin(pi * x) + t * x * (1 - x) * net(cat({x, t}, 1));
  };

  const std::int64_t steps = 1200;
  optim::Adam opt(net.parameters(), {.lr = optim::warmup_cosine(5e-3, 50, steps)});
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor x = rand({128, 1}).requires_grad_(), t = rand({128, 1}).requires_grad_();
    const TensorList first = grad(u(x, t).sum(), {x, t}, {.create_graph = true});  // u_x and u_t
    const Tensor u_xx = grad(first[0].sum(), {x}, {.create_graph = true})[0];
    opt.zero_grad();
    (first[1] - a * u_xx).square().mean().backward();
    opt.step();
  }

  const NoGrad guard;
  const Tensor x = rand({2000, 1}), t = rand({2000, 1});
  const Tensor exact = exp(-a * pi * pi * t) * sin(pi * x);
  const double middle = u(full({1, 1}, 0.5), ones({1, 1})).item();
  std::printf("the middle at t = 1: %.3f (exact: 0.373)\n", middle);
  std::printf("largest error %.4f\n", (u(x, t) - exact).abs().max().item());
}
