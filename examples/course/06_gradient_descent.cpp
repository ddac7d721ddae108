// A multilayer perceptron learns a curve: the training loop, and where its knowledge ends.
//
//   net(x) = W3 tanh(W2 tanh(W1 x + b1) + b2) + b3        loss = mean (net(x) - y)^2

#include <cstdio>

#include "gradus/gradus.h"
#include "gradus/kit/chart/plot.h"

using namespace gradus;

namespace {

// [net]
struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(1, 32));
  nn::Linear fc2 = add("fc2", nn::Linear(32, 32));
  nn::Linear fc3 = add("fc3", nn::Linear(32, 1));
  Tensor operator()(const Tensor& x) const { return fc3(tanh(fc2(tanh(fc1(x))))); }
};
// [/net]

Tensor curve(const Tensor& x) { return sin(2 * x) + 0.5 * x; }

// [train]
/// One step on a batch; returns the loss before it.
double train_step(const Net& net, optim::Optimizer& opt, const Tensor& x, const Tensor& y) {
  const Tensor loss = mse_loss(net(x), y);  // forward: writes the tape
  opt.zero_grad();                          // gradients add up, so start from none
  loss.backward();                          // backward: reads the tape
  opt.step();                               // moves every parameter against its gradient
  return loss.item();
}
// [/train]

double error_between(const Net& net, double low, double high) {
  const NoGrad guard;  // measuring needs no tape
  const Tensor x = linspace(low, high, 101).unsqueeze(1);
  return mse_loss(net(x), curve(x)).sqrt().item();
}

/// The true curve and the net from x = -4 to 4.
void plot(const Net& net) {
  const NoGrad guard;
  const Tensor x = linspace(-4, 4, 200);
  const auto chart =
      kit::plot({{"true curve", x, curve(x)}, {"net", x, net(x.unsqueeze(1)).squeeze(1)}}, {.x_label = "x"});
  std::printf("%s", kit::terminal(chart, {.width = 72, .ascii = true}).c_str());
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Net net;
  std::printf("%s\n", nn::summary(net).c_str());

  // [data]
  const Tensor x = rand({200, 1}) * 6 - 3;             // 200 places between -3 and 3
  const Tensor y = curve(x) + 0.1 * randn(x.shape());  // measured with an error of 0.1
  // [/data]
  std::printf("Before training:\n");
  plot(net);

  optim::Adam opt(net.parameters(), {.lr = optim::warmup_cosine(1e-2, 50, 1000)});
  std::printf("\n step   loss\n");
  for (int step = 1; step <= 1000; ++step) {
    const double loss = train_step(net, opt, x, y);
    if (step == 1 || step == 10 || step == 100 || step % 250 == 0) std::printf("%5d   %.4f\n", step, loss);
  }
  std::printf("\nAfter training:\n");
  plot(net);
  std::printf("\nDistance from the true curve, root mean square:\n");
  std::printf("  a measurement:                   %.2f\n", mse_loss(y, curve(x)).sqrt().item());
  std::printf("  the net where there were data:   %.2f\n", error_between(net, -3, 3));
  std::printf("  beyond them, 3 .. 4:             %.2f\n", error_between(net, 3, 4));
  // [truth]
  const NoGrad no_grad;
  const Tensor of_measurement = (y - curve(x)).abs(), of_net = (net(x) - curve(x)).abs();
  const double closer = (of_measurement < of_net).to(f64).mean().item();
  // [/truth]
  std::printf("%.0f%% of the measurements are closer to the true curve than the net is there.\n",
              100 * closer);
  std::printf("Loss on the measurements: the net %.4f, the true curve %.4f.\n", mse_loss(net(x), y).item(),
              mse_loss(curve(x), y).item());
}
