#include <gradus/gradus.h>
#include <cstdio>
using namespace gradus;

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(2, 16));
  nn::Linear fc2 = add("fc2", nn::Linear(16, 1));
  Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
};

int main() {
  manual_seed(0);
  Tensor x = randn({256, 2});
  Tensor y = sin(x.sum(-1, /*keepdim=*/true));
  Net net;
  optim::Adam opt(net.parameters(), {.lr = optim::warmup_linear(1e-2, 100)});
  for (int step = 0; step < 1000; ++step) {
    Tensor loss = mse_loss(net(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    if (step % 100 == 0) std::printf("%d %.5f\n", step, loss.item());
  }
}
