// Convolution: small images with a bright bar. Is it horizontal, vertical or diagonal?
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// Noisy images [N, 1, 12, 12] of bars of kind (i64 [N]): 0 horizontal, 1 vertical, 2 diagonal.
Tensor draw(const Tensor& kind) {
  const std::int64_t count = kind.numel();
  const Tensor x = 0.3 * randn({count, 12 * 12}),
               corner = randint(0, 8, {count}) * 12 + randint(0, 8, {count});
  const Tensor stride = tensor({1, 12, 13})[kind];  // from pixel to pixel of the bar
  const Tensor pixels = corner.unsqueeze(1) + stride.unsqueeze(1) * arange(5);  // [count, 5]
  return scatter_add(x, 1, pixels, full({count, 5}, 1.5)).view({count, 1, 12, 12});
}

int main() {
  manual_seed(0);
  const nn::Sequential net(
      nn::Conv2d(1, 8, 3, {.padding = 1, .bias = false}), nn::BatchNorm(8), relu, nn::MaxPool2d(2),
      nn::Conv2d(8, 16, 3), nn::GroupNorm(4, 16), relu,
      [](const Tensor& x) {
        return x.mean({-2, -1});
      },
      nn::Linear(16, 3));
  const Tensor kind = randint(0, 3, {400}), x = draw(kind);
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  for (int epoch = 0; epoch < 10; ++epoch)
    for (const Tensor& batch : split(randperm(x.size(0)), 40)) {
      opt.zero_grad();
      cross_entropy(net(x[batch]), kind[batch]).backward();
      opt.step();
    }
  const nn::EvalMode eval(net);  // BatchNorm uses its running averages
  const NoGrad guard;
  const Tensor truth = randint(0, 3, {200});
  std::printf("accuracy %.2f\n", data::accuracy(net(draw(truth)), truth));
}
