// A classifier: two spirals, in batches; accuracy and confusion matrix on unseen points.
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const std::int64_t n = 600, classes = 2;
  const Tensor label = randint(0, classes, {n}), t = 0.5 + 2 * rand({n});
  const Tensor angle = 3 * t + 3.14159 * label.to(f32);
  const Tensor x = stack({t * cos(angle), t * sin(angle)}, 1) + 0.05 * randn({n, 2});  // [n, 2]
  const std::vector<Tensor> parts = split(randperm(n), {500, 100});
  const Tensor train = parts[0], unseen = parts[1];

  const nn::Sequential net(nn::Linear(2, 32), relu, nn::Linear(32, 32), relu, nn::Linear(32, classes));
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  for (int epoch = 0; epoch < 40; ++epoch)
    for (const Tensor& batch : split(train[randperm(train.size(0))], 50)) {
      const Tensor loss = cross_entropy(net(x[batch]), label[batch]);
      opt.zero_grad();
      loss.backward();
      opt.step();
    }

  const NoGrad guard;
  const Tensor truth = label[unseen], guess = net(x[unseen]).argmax(-1);
  const Tensor cell = truth * classes + guess;  // of the matrix, counted row by row
  std::cout << "confusion, a row for each class:\n"
            << index_add(zeros({classes * classes}, i64), 0, cell, ones_like(cell)).view({classes, classes});
  std::printf("\naccuracy %.2f\n", (guess == truth).to(f32).mean().item());
}
