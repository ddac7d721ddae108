// Gradient accumulation: four batches of 16 make the step of one of 64, for when 64 do not fit into memory.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const nn::Linear big(8, 3), small(8, 3);
  small.copy_parameters_from(big);
  optim::Adam big_step(big.parameters(), {.lr = 0.1}), small_step(small.parameters(), {.lr = 0.1});
  const Tensor x = randn({64, 8}), y = randint(0, 3, {64});

  for (int step = 0; step < 10; ++step) {
    big_step.zero_grad();
    cross_entropy(big(x), y).backward();
    big_step.step();

    small_step.zero_grad();  // once, before the first part
    for (const Tensor& part : split(arange(64), 16))
      (cross_entropy(small(x[part]), y[part]) / 4).backward();  // gradients add up; the mean of 4 means
    small_step.step();                                          // once, after the last
  }
  std::printf("the same to rounding: %s\n", allclose(big.weight, small.weight, 1e-9) ? "yes" : "no");
}
