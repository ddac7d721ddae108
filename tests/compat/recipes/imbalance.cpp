// Rare classes: one point in twenty is of class 1. Class weights balance the loss.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

double found(const CrossEntropyOptions& options, const Tensor& x,
             const Tensor& y) {  // recall of class 1
  manual_seed(1);
  const nn::Linear net(2, 2);
  optim::Adam opt(net.parameters(), {.lr = 0.05});
  for (int step = 0; step < 200; ++step) {
    opt.zero_grad();
    cross_entropy(net(x), y, options).backward();
    opt.step();
  }
  return net(x[y == 1]).argmax(-1).to(f32).mean().item();
}

int main() {
  manual_seed(0);
  const Tensor y = (arange(400) % 20 == 0).to(i64);
  const Tensor x = randn({400, 2}) + 1.5 * y.unsqueeze(1).to(f32);  // the classes overlap
  const Tensor count = one_hot(y, 2).sum(0).to(f32);
  std::printf("recall of the rare class, unweighted  %.2f\n", found({}, x, y));
  std::printf("recall of the rare class, weighted    %.2f\n", found({.weight = 400 / (2 * count)}, x, y));
}
