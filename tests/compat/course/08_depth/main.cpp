// Whatever one layer does to the size of a vector, 32 layers do 32 times over.
// Its chapter: docs/course/08_depth/README.md
//   x_l = relu(W x_(l-1)), W [d, d] from N(0, v/d)        |x_l|^2 = v/2 |x_(l-1)|^2 in the mean, |dx|^2 too

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

struct Scheme {
  const char* name;
  double v;  // a weight has the variance v / d
};
constexpr std::int64_t kWidth = 256, kLayers = 32;
constexpr Scheme kTiny{"N(0, 0.02^2)", 0.02 * 0.02 * kWidth}, kDefault{"U(+-1/sqrt(d))", 1.0 / 3},
    kXavier{"N(0, 1/d)", 1}, kKaiming{"N(0, 2/d)", 2}, kLarge{"N(0, 4/d)", 4};

// [stack]
/// log10 of the growth of |x|^2 and of |dL/dx|^2 through the layers, and the cosine of two inputs' outputs.
Tensor through(double v) {
  const Tensor start = randn({2, kWidth}).requires_grad_();
  Tensor x = start;
  for (int l = 0; l < kLayers; ++l) x = relu(linear(x, std::sqrt(v / kWidth) * randn({kWidth, kWidth})));
  const Tensor dy = randn({2, kWidth});  // some gradient at the top
  x.backward(dy);
  const auto decades = [](const Tensor& to, const Tensor& from) {
    return log(to[0].square().sum() / from[0].square().sum()) / std::log(10.0);
  };
  const Tensor unit = x.detach() / x.detach().norm(2, {-1}, true);
  return stack({decades(x, start).detach(), decades(start.grad(), dy), (unit[0] * unit[1]).sum()});
}
// [/stack]

void sizes() {
  std::printf(
      "32 layers of relu, width 256, log10 of the growth: mean (least to largest) of 10 seeds\n\n"
      "weights          v/2     32 log10(v/2)   |x|^2                    |dL/dx|^2 to the bottom   cosine\n");
  for (const auto& [name, v] : {kTiny, kDefault, kXavier, kKaiming, kLarge}) {
    std::vector<Tensor> seeds;
    for (unsigned seed = 0; seed < 10; ++seed) {
      manual_seed(seed);
      seeds.push_back(through(v));
    }
    const Tensor all = stack(seeds), mean = all.mean(0), low = all.min(0), high = all.max(0);
    std::printf("%-16s %.3f %12.1f", name, v / 2, kLayers * std::log10(v / 2));
    for (int i : {0, 1})
      std::printf("   %7.1f (%5.1f to %5.1f)", mean[i].item(), low[i].item(), high[i].item());
    std::printf("   %.2f\n", mean[2].item());
  }
}

// [plain]
struct Plain : nn::Module {
  std::vector<nn::Linear> layers;
  Plain(int depth, double v) {
    for (int l = 0; l <= depth; ++l) {
      const int in = l == 0 ? 1 : 32, out = l == depth ? 1 : 32;
      layers.push_back(add("layer" + std::to_string(l), nn::Linear(in, out)));
      if (in == out) nn::init::normal_(layers.back().weight, 0, std::sqrt(v / in));
      if (in == out) nn::init::zeros_(layers.back().bias);
    }
  }
  Tensor operator()(Tensor x) const {
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) x = relu(layers[l](x));
    return layers.back()(x);
  }
};
// [/plain]

/// The loss on sin 2x + x/2 after 300 steps, and that of the best constant answer.
std::pair<double, double> train(int depth, double v, double lr, unsigned seed) {
  manual_seed(seed);
  const Plain net(depth, v);
  const Tensor x = rand({200, 1}) * 6 - 3, y = sin(2 * x) + 0.5 * x;
  optim::SGD opt(net.parameters(), {.lr = lr, .momentum = 0.9});
  for (std::int64_t step = 0; step < 300; ++step) {
    const std::int64_t first = step * 20 % 200;
    opt.zero_grad();
    mse_loss(net(x.slice(0, first, first + 20)), y.slice(0, first, first + 20)).backward();
    opt.step();
  }
  return {mse_loss(net(x), y).item(), y.var({}, {.unbiased = false}).item()};
}

void training() {
  std::printf(
      "\nLoss after 300 steps at the better of two rates, 5 seeds: mean (largest)\n\n"
      "layers   U(+-1/sqrt(d))    N(0, 1/d)         N(0, 2/d)         a constant\n");
  for (const int depth : {2, 8, 32}) {
    std::printf("%6d", depth);
    double constant = 0;
    for (const double v : {kDefault.v, kXavier.v, kKaiming.v}) {
      double sum = 0, largest = 0;
      constant = 0;
      for (unsigned seed = 0; seed < 5; ++seed) {
        const auto [slow, of_constant] = train(depth, v, 0.001, seed);
        const double best = std::fmin(slow, train(depth, v, 0.01, seed).first);  // fmin: not a NaN
        sum += best, largest = std::fmax(largest, best), constant += of_constant;
      }
      std::printf("   %.3f (%.3f)  ", sum / 5, largest);
    }
    std::printf("   %.3f\n", constant / 5);
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  sizes();
  training();
}
