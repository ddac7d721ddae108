// A line with two parameters, then the same loop for a network that learns a curve.
// Its chapter: docs/course/06_gradient_descent/README.md
//   w <- w - lr dL/dw,   b <- b - lr dL/db        loss L = mean (w x + b - y)^2
//   net(x) = W3 tanh(W2 tanh(W1 x + b1) + b2) + b3        loss = mean (net(x) - y)^2

#include <cmath>
#include <cstdio>
#include <string>

#include "gradus/gradus.h"
#include "gradus/kit/chart/plot.h"

using namespace gradus;

namespace {

// [line]
/// Steps until both parameters of the line y = 2 x + 1 are found to within 0.01; 0 if this takes more than
/// 1000.
int steps_at(double lr, const Tensor& x, const Tensor& y) {
  Tensor w = tensor(0.0).requires_grad_(), b = tensor(0.0).requires_grad_();
  for (int step = 1; step <= 1000; ++step) {
    const Tensor loss = (w * x + b - y).square().mean();
    w.zero_grad(), b.zero_grad();
    loss.backward();
    const NoGrad guard;  // an update is not part of the loss
    w -= lr * w.grad();
    b -= lr * b.grad();
    if (std::abs(w.item() - 2) < 0.01 && std::abs(b.item() - 1) < 0.01) return step;
  }
  return 0;
}
// [/line]

void line() {
  const Tensor x = linspace(-3, 3, 61), y = 2 * x + 1;
  const double s = x.square().mean().item();
  std::printf(
      "A line, y = 2 x + 1, from w = b = 0. Each step multiplies the error of w by 1 - 2 lr mean(x^2)\n"
      "and that of b by 1 - 2 lr; mean(x^2) = %.2f, so w diverges above lr = 1 / %.2f = %.3f.\n\n"
      "  rate   factor of w   factor of b   steps to an error below 0.01\n",
      s, s, 1 / s);
  for (const double lr : {0.01, 0.1, 0.2, 0.3, 0.32, 0.33}) {
    const int steps = steps_at(lr, x, y);
    std::printf("%6.2f %13.2f %13.2f   %s\n", lr, 1 - 2 * lr * s, 1 - 2 * lr,
                steps > 0 ? std::to_string(steps).c_str() : "never");
  }
}

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
  const Tensor loss = mse_loss(net(x), y);  // forward: records the tape
  opt.zero_grad();                          // gradients add up, so start from none
  loss.backward();                          // backward: reads the tape
  opt.step();                               // moves every parameter against its gradient
  return loss.item();
}
// [/train]

double error_between(const Net& net, double low, double high) {
  const Tensor x = linspace(low, high, 101).unsqueeze(1);
  return mse_loss(net(x), curve(x)).sqrt().item();
}

/// The true curve and the net from x = -4 to 4.
void plot(const Net& net) {
  const Tensor x = linspace(-4, 4, 200);
  const auto chart =
      kit::plot({{"true curve", x, curve(x)}, {"net", x, net(x.unsqueeze(1)).squeeze(1)}}, {.x_label = "x"});
  std::printf("%s\n", kit::terminal(chart, {.width = 72, .ascii = true}).c_str());
}

void network(unsigned seed) {
  manual_seed(seed);
  const Net net;
  // [data]
  const Tensor x = rand({200, 1}) * 6 - 3;             // 200 places between -3 and 3
  const Tensor y = curve(x) + 0.1 * randn(x.shape());  // measured with an error of 0.1
  // [/data]
  // [loop]
  const optim::Schedule rate = [](std::int64_t step) { return 0.1 * (1 - double(step) / 2000); };
  optim::SGD opt(net.parameters(), {.lr = rate, .momentum = 0.9});
  for (std::int64_t step = 0; step < 2000; ++step) {
    const std::int64_t first = step * 20 % 200;  // 20 measurements, then the next 20
    train_step(net, opt, x.slice(0, first, first + 20), y.slice(0, first, first + 20));
  }
  // [/loop]
  const NoGrad guard;  // measuring needs no tape
  // [truth]
  const double closer = ((y - curve(x)).abs() < (net(x) - curve(x)).abs()).to(f64).mean().item();
  // [/truth]
  if (seed == 0) {
    plot(net);
    std::printf("seed   loss: net   true curve   distance: measured   net   net at 3..4   closer\n");
  }
  std::printf("%4u %11.4f %12.4f %20.2f %5.2f %13.1f %7.0f%%\n", seed, mse_loss(net(x), y).item(),
              mse_loss(curve(x), y).item(), mse_loss(y, curve(x)).sqrt().item(), error_between(net, -3, 3),
              error_between(net, 3, 4), 100 * closer);
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  line();
  std::printf("\nA network after 2000 steps on 200 measurements of sin 2x + x/2 between -3 and 3:\n\n");
  for (unsigned seed = 0; seed < 5; ++seed) network(seed);
}
