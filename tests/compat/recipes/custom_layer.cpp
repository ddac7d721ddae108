// A custom layer with parameters: y_k = x^T W_k x + b, checked by gradcheck.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

struct Quadratic : nn::Module {
  Quadratic(std::int64_t in, std::int64_t out)
      : weight(parameter("weight", randn({out, in, in}) / in)), bias(parameter("bias", zeros({out}))) {}
  Tensor operator()(const Tensor& x) const { return einsum("bi,kij,bj->bk", {x, weight, x}) + bias; }
  nn::Parameter weight, bias;
};

int main() {
  const DefaultDType guard(f64);  // gradcheck needs double precision
  manual_seed(0);
  const Quadratic layer(3, 2);
  const Tensor points = randn({4, 3});
  gradcheck([&] { return layer(points); }, layer.parameters());  // throws if a derivative is wrong
  std::printf("%s", nn::summary(layer).c_str());

  const Tensor x = randn({200, 2}),
               inside = (x.square().sum(-1, true) < 1).to(f64);  // a disc: not linearly separable
  const Quadratic net(2, 1);
  optim::SGD opt(net.parameters(), {.lr = 1.0, .momentum = 0.9});
  for (int step = 0; step < 200; ++step) {
    opt.zero_grad();
    binary_cross_entropy_with_logits(net(x), inside).backward();
    opt.step();
  }
  std::printf("accuracy %.2f\n", data::accuracy(net(x) > 0, inside.to(boolean)));
}
