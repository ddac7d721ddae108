// A model trained in a web page (docs/browser.md): train_step makes one step, index.html plots the loss.
#include <emscripten.h>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// y = sin(3 x), learned by a two-layer net.
struct Training {
  nn::Sequential net{nn::Linear(1, 32), tanh, nn::Linear(32, 1)};
  optim::Adam adam{net.parameters(), {.lr = 0.01}};

  double step() {
    const Tensor x = rand({64, 1}) * 2 - 1;
    const Tensor loss = mse_loss(net(x), sin(x * 3));
    adam.zero_grad();
    loss.backward();
    adam.step();
    return loss.item();
  }
};

}  // namespace

extern "C" EMSCRIPTEN_KEEPALIVE double train_step() {
  static Training training;
  return training.step();
}
