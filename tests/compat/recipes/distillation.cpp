// Distillation: a small net learns a large net's probabilities on unlabeled points.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

void train(const nn::Sequential& net, const Tensor& x, const Tensor& target) {
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  for (int step = 0; step < 300; ++step) {
    opt.zero_grad();
    cross_entropy(net(x), target).backward();  // target: classes [N], or probabilities [N, classes]
    opt.step();
  }
}

int main() {
  manual_seed(0);
  const auto points = [](std::int64_t n) { return rand({n, 2}) * 4 - 2; };
  const auto above_wave = [](const Tensor& x) { return (x.select(1, 1) > sin(2 * x.select(1, 0))).to(i64); };
  const Tensor x = points(500), few = points(20), unlabelled = points(500);
  const nn::Sequential teacher(nn::Linear(2, 64), relu, nn::Linear(64, 64), relu, nn::Linear(64, 2));
  const nn::Sequential student(nn::Linear(2, 16), tanh, nn::Linear(16, 2));
  const nn::Sequential alone(nn::Linear(2, 16), tanh, nn::Linear(16, 2));
  train(teacher, x, above_wave(x));
  train(student, unlabelled, softmax(teacher(unlabelled).detach(), -1));
  train(alone, few, above_wave(few));

  const NoGrad guard;
  std::printf("after the teacher, and alone with 20 labels:\n");
  const Tensor unseen = points(1000), truth = above_wave(unseen), p = softmax(teacher(unseen), -1);
  for (const nn::Sequential& net : {student, alone}) {
    const Tensor logits = net(unseen);
    const double from_teacher = kl_div(log_softmax(logits, -1), p, Reduction::sum).item() / 1000;
    std::printf("accuracy %.2f, %.2f nats from the teacher\n", data::accuracy(logits, truth), from_teacher);
  }
}
