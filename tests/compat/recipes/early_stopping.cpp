// Early stopping: the rate falls when the validation loss stalls; the best weights are kept.
#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

Tensor measured(const Tensor& x) { return sin(3 * x) + 0.5 * randn(x.shape()); }

int main() {
  manual_seed(0);
  const Tensor x = rand({12, 1}) * 2 - 1, y = measured(x);  // few points, much noise: easy to overfit
  const Tensor other_x = rand({100, 1}) * 2 - 1, other_y = measured(other_x);
  const nn::Sequential net(nn::Linear(1, 64), tanh, nn::Linear(64, 64), tanh, nn::Linear(64, 1));
  optim::Adam opt(net.parameters(), {.lr = 1e-2});
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 100});
  const auto validate = [&] {
    const nn::EvalMode eval(net);  // turns off dropout, if the net has any
    const NoGrad guard;
    return mse_loss(net(other_x), other_y).item();
  };

  StateDict best;
  double least = INFINITY;
  for (int epoch = 0, of_best = 0; epoch - of_best < 300; ++epoch) {  // ends 300 epochs after the best one
    opt.zero_grad();
    mse_loss(net(x), y).backward();
    opt.step();
    const double loss = validate();
    plateau.step(loss);
    if (loss < least) least = loss, of_best = epoch, best = net.state_dict().clone();
  }
  std::printf("the last weights  %.2f, rate %.1e\n", validate(), opt.lr());
  net.load_state_dict(best);
  std::printf("the best weights  %.2f\n", validate());
}
