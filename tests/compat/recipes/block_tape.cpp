// The tape of a Transformer block: every op, the module that recorded it, a diamond for each residual sum.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  const nn::PreLNBlock block({.d_model = 8, .heads = 2});
  block.requires_grad_(false);  // constants, to keep the picture small
  const Tensor x = randn({1, 4, 8}).requires_grad_();
  std::printf("%s", explain(block(x)).c_str());
}
