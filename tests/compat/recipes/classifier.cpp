// A classifier of two spirals, trained in batches; accuracy and confusion matrix on unseen points.
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
  const auto [train, unseen] = data::random_split(n, {500, 100});

  const nn::Sequential net(nn::Linear(2, 32), relu, nn::Linear(32, 32), relu, nn::Linear(32, classes));
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  data::DataLoader loader({x[train], label[train]}, {.batch_size = 50, .shuffle = true});
  while (loader.epoch() < 40)
    for (const auto& [points, labels] : loader) {
      const Tensor loss = cross_entropy(net(points), labels);
      opt.zero_grad();
      loss.backward();
      opt.step();
    }

  const NoGrad guard;
  const Tensor logits = net(x[unseen]);
  std::cout << "confusion, a row for each class:\n"
            << data::confusion_matrix(logits, label[unseen], classes) << "\n";
  std::printf("accuracy %.2f\n", data::accuracy(logits, label[unseen]));
}
