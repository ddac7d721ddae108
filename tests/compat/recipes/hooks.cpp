// Hooks: inspect a gradient inside the tape, modify it in backward, or compute it as a value.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  const Tensor x = tensor({1.0, 2.0, 3.0}).requires_grad_();

  const Tensor h = (x * x).retain_grad();  // keeps the gradient of an inner tensor
  h.on_grad([](const Tensor& dh) { std::printf("looks: dh has norm %.3f\n", dh.norm().item()); });
  h.sum().backward();
  std::printf("dh[0] %.1f, dx[2] %.1f\n", h.grad()[0].item(), x.grad()[2].item());

  x.zero_grad();
  const Tensor k =
      (2 * x).on_grad([](const Tensor& dk) { return -dk; });  // gradient reversal (Ganin et al. 2015)
  k.sum().backward();
  std::printf("reversed: dx[0] %.1f\n", x.grad()[0].item());

  // The gradient as a value, here to monitor its norm; nothing is added to x.grad().
  const Tensor dx = grad((x.pow(3)).sum(), {x})[0];
  std::printf("3 x^2 at 3: %.1f; x.grad()[0] is still %.1f\n", dx[2].item(), x.grad()[0].item());
}
