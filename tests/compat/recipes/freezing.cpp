// Freezing: a net trained to separate odd from even learns small from large, at first only in its head.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

struct Net : nn::Module {
  nn::Sequential body = add("body", nn::Sequential(nn::Embedding(10, 16), nn::Linear(16, 16), relu));
  nn::Linear head = add("head", nn::Linear(16, 2));
  Tensor operator()(const Tensor& digits) const { return head(body(digits)); }
};

double train(const Net& net, optim::Optimizer& opt, const Tensor& target) {
  for (int step = 0; step < 100; ++step) {
    opt.zero_grad();
    cross_entropy(net(arange(10)), target).backward();
    opt.step();
  }
  return cross_entropy(net(arange(10)), target).item();
}

int main() {
  manual_seed(0);
  const Net net;
  const Tensor odd = arange(10) % 2, large = (arange(10) >= 5).to(i64);
  optim::Adam first(net.parameters(), {.lr = 1e-2});
  std::printf("odd or even            loss %.2f\n", train(net, first, odd));
  net.body.requires_grad_(false);
  optim::Adam opt(net.head.parameters(), {.lr = 1e-2});
  std::printf("small or large, head   loss %.2f\n", train(net, opt, large));
  std::printf("body frozen: %s\n", net.body(arange(10)).requires_grad() ? "no" : "yes");

  net.body.requires_grad_(true);
  const optim::Schedule warmup = optim::warmup_linear(1e-3, 20);  // shifted below by the optimizer's steps
  const auto rate = [warmup, begin = opt.steps()](std::int64_t step) { return warmup(step - begin); };
  opt.add_group({.parameters = net.body.parameters(), .lr = rate});
  std::printf("small or large, all    loss %.2f\n", train(net, opt, large));
}
