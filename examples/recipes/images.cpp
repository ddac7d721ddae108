// Images: a net learns to tell noisy circles, crosses and squares apart, and a picture shows its answers.
#include <cstdio>

#include "gradus/gradus.h"
#include "gradus/kit/kit.h"

using namespace gradus;

/// Noisy images [N, 1, 16, 16] of kind (i64 [N]): 0 a circle, 1 a cross, 2 a square.
Tensor draw(const Tensor& kind) {
  const auto random = [&] { return rand({kind.size(0), 1, 1, 1}); };
  const Tensor size = 3 + 3 * random(), x = (arange(16.0) - 6 - 4 * random()).abs(),
               y = (arange(16.0).unsqueeze(1) - 6 - 4 * random()).abs(), larger = maximum(x, y);
  const Tensor circle = (sqrt(x * x + y * y) - size).abs(), square = (larger - size).abs();
  const Tensor cross = maximum((x - y).abs(), larger - size), which = kind.view({-1, 1, 1, 1});
  const Tensor away = where(which == 0, circle, where(which == 1, cross, square));  // from the nearest line
  return (away < 0.7).to(f32) + 0.3 * randn(away.shape());
}

int main() {
  manual_seed(0);
  const Tensor y = randint(0, 3, {2000}), x = draw(y), truth = randint(0, 3, {500}), unseen = draw(truth);
  const nn::Sequential net(nn::Linear(256, 64), relu, nn::Linear(64, 3));
  optim::Adam opt(net.parameters(), {.lr = 3e-3});
  data::DataLoader loader({x.flatten(1), y}, {.batch_size = 50, .shuffle = true});
  while (loader.epoch() < 10)
    for (const auto& [images, labels] : loader) {
      opt.zero_grad();
      cross_entropy(net(images), labels).backward();
      opt.step();
    }
  const Tensor answers = net(unseen.flatten(1)).argmax(-1);
  const char* kinds[] = {"circle", "cross", "square"};
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(kinds[answers[i].item<int>()]);
  kit::make_folder("runs/images");
  kit::image(unseen.slice(0, 0, 12), {.names = names, .columns = 6}).save("runs/images/answers.svg");
  std::printf("accuracy %.2f, some answers in runs/images/answers.svg\n", data::accuracy(answers, truth));
}
