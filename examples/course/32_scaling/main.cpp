// The best rate of a net, and its sensitivity to the rate, by width and depth, without and with muP.
// Its chapter: docs/course/32_scaling/README.md

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [factors]
/// Of a matrix: the standard deviation at the start, and what multiplies Adam's rate and the product.
struct Factors {
  double std, rate = 1, multiplier = 1;
};
struct Scaling {
  Factors in, hidden, out;
};
constexpr double kStart = 0.25;  // 1 / sqrt(16): 16 inputs, and 16 is the width of the base net
Scaling standard(double n) { return {{kStart}, {1 / std::sqrt(n)}, {1 / std::sqrt(n)}}; }
Scaling mup(double n) {
  const double m = n / 16;
  return {{kStart}, {.std = 1 / std::sqrt(n), .rate = 1 / m}, {.std = kStart, .multiplier = 1 / m}};
}
// [/factors]

// [net]
/// h = x in, then h + branch tanh(h) hidden in every block, then the output, one number from tanh(h).
struct Net {
  Net(const Scaling& scaling, int n, int blocks, double share = 1) : s(scaling), branch(share) {
    const auto start = [](auto shape, const Factors& f) { return (f.std * randn(shape)).requires_grad_(); };
    in = start(Shape{16, n}, s.in), out = start(Shape{n, 1}, s.out);
    for (int i = 0; i < blocks; ++i) hidden.push_back(start(Shape{n, n}, s.hidden));
  }
  TensorList operator()(const Tensor& x) const {
    Tensor h = matmul(x, in);
    for (const Tensor& w : hidden) h = h + branch * matmul(tanh(h), w);
    return {h, s.out.multiplier * matmul(tanh(h), out)};
  }
  std::vector<optim::ParameterGroup> groups(double rate) const {
    return {{{in, out}, rate}, {hidden, rate * s.hidden.rate * branch}};
  }
  Scaling s;
  double branch;
  Tensor in, out;
  std::vector<Tensor> hidden;
};
// [/net]

/// How far the first of 60 steps moves h and the output; the loss before it, and the mean of the last 15.
Tensor train(const Net& net, double rate) {
  optim::Adam adam(net.groups(rate));
  Tensor losses = zeros({60});
  TensorList result;
  for (int step = 0; step < 60; ++step) {
    const Tensor x = randn({32, 16}), y = 2 * tanh(x.slice(1, 0, 1) + x.slice(1, 1, 2)) - x.slice(1, 2, 3);
    const TensorList before = net(x);
    const Tensor loss = mse_loss(before[1], y);
    losses[step].copy_(loss.detach());
    adam.zero_grad();
    loss.backward();
    adam.step();
    if (step > 0) continue;
    const TensorList now = net(x);
    for (const int i : {0, 1}) result.push_back((now[i] - before[i]).detach().square().mean().sqrt());
  }
  result.push_back(losses[0]), result.push_back(losses.slice(0, 45, 60).mean());
  return stack(result);
}

void interval(const Tensor& x) {  // of five seeds, chapter 10
  const double mean = x.mean().item(), half = 2.776 * x.std().item() / std::sqrt(5);
  std::printf(" %5.2f (%.2f to %.2f)\n", mean, mean - half, mean + half);
}

/// Trains five seeds of each net at six rates. Prints a row for each net; returns the last one's losses.
Tensor sweep(const char* title, const std::array<int, 3>& sizes, const std::function<Net(int)>& net) {
  const char* const head = "    2^-8  2^-7  2^-6  2^-5  2^-4  2^-3   best      h output   sensitivity";
  std::printf("%s\n  %s\n", title, head);
  Tensor end;
  for (const int size : sizes) {
    TensorList runs;
    for (int run = 0; run < 30; ++run) {
      manual_seed(run / 6);
      const Net start = net(size);
      manual_seed(1000 + run / 6);  // the same examples for every net; each batch is new
      runs.push_back(train(start, std::exp2(run % 6 - 8)));
    }
    const Tensor all = stack(runs).reshape({5, 6, 4}), means = all.mean(0);
    std::printf("%4d ", size);
    for (int i = 0; i < 6; ++i) std::printf(" %5.2f", means[i][3].item());
    std::printf("   2^%d %6.2f %6.2f  ", means.select(1, 3).argmin().item<int>() - 8, means[0][0].item(),
                means[0][1].item());
    // [sensitivity]
    end = all.select(2, 3);  // [seeds, rates]
    const Tensor least = minimum(end, all.select(2, 2));
    interval(least.mean(1) - least.min(1));
    // [/sensitivity]
  }
  return end;
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  const Tensor a = sweep("Standard, by width", {16, 64, 256}, [](int n) { return Net(standard(n), n, 1); });
  const Tensor b = sweep("\nmuP, by width", {16, 64, 256}, [](int n) { return Net(mup(n), n, 1); });
  std::printf("\nWidth 256, standard at 2^-5 minus standard at 2^-7:");
  interval(a.select(1, 3) - a.select(1, 1));
  std::printf("           standard at 2^-7 minus muP at 2^-5:     ");
  interval(a.select(1, 1) - b.select(1, 3));
  sweep("\nBy depth", {1, 2, 4}, [](int l) { return Net(standard(16), 16, l); });
  sweep("\nBy depth, scaled", {1, 2, 4}, [](int l) { return Net(standard(16), 16, l, 1 / std::sqrt(l)); });
}
