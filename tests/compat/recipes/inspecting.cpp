// Inspecting any model: shapes, sizes of activations and gradients, every layer's output.
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

int main() {
  manual_seed(0);
  nn::Sequential net(nn::Linear(8, 64));
  for (int layer = 0; layer < 4; ++layer) {
    net.append(sigmoid);
    net.append(nn::Linear(64, 64));
  }
  const Tensor x = randn({32, 8});
  std::printf("%s\n", nn::summary(net, x).c_str());

  optim::Adam opt(net.parameters());
  {
    const nn::Probe probe(net);  // records until the end of this scope
    net(x).square().mean().backward();
    opt.step();
    std::printf("%s\n", probe.table().c_str());
  }

  int seen = 0;
  const nn::ForwardHook hook = net.on_forward([&](const nn::Module& m, const Tensor& y) {
    if (m.kind() == "Linear")
      std::printf("%-2s std over the batch %.3f\n", m.path(), y.std(0).mean().item()), ++seen;
  });
  net(x);
  std::printf("%d layers seen; every sigmoid removes most of the differences in its input\n", seen);
}
