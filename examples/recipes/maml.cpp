// MAML: weights from which one step of gradient descent learns a sine of any phase (Finn et al. 2017).
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

const std::int64_t kTasks = 16;  // at once: sin(x + phase), each with its own phase
Tensor some_x() { return 6 * rand({kTasks, 20, 1}) - 3; }
Tensor loss_of(const TensorList& w, const Tensor& phase, const Tensor& x) {
  const Tensor h = tanh(matmul(tanh(matmul(x, w[0]) + w[1]), w[2]) + w[3]);
  return mse_loss(matmul(h, w[4]), sin(x + phase));
}
/// A copy of the weights for each task, after one step on its own points. The step is on the tape.
TensorList adapted(const TensorList& shared, const Tensor& phase) {
  TensorList w;
  for (const Tensor& part : shared) w.push_back(part.expand({kTasks, part.size(0), part.size(1)}));
  const TensorList g = grad(kTasks * loss_of(w, phase, some_x()), w, {.create_graph = true});
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = w[i] - 0.1 * g[i];
  return w;
}

int main() {
  for (const bool maml : {false, true}) {
    manual_seed(0);
    TensorList w = {randn({1, 24}), randn({1, 24}), randn({24, 24}) / 5, zeros({1, 24}), randn({24, 1}) / 5};
    for (Tensor& part : w) part.requires_grad_();
    optim::Adam opt(w, {.lr = optim::warmup_cosine(5e-3, 50, 1500)});
    double after = 0;
    for (int step = 0; step < 1600; ++step) {  // the last 100 are measured: their rate is 0
      const Tensor phase = 6.2832 * rand({kTasks, 1, 1}), x = some_x();
      if (step >= 1500) after += loss_of(adapted(w, phase), phase, x).item() / 100;
      opt.zero_grad();
      loss_of(maml ? adapted(w, phase) : w, phase, x).backward();
      opt.step();
    }
    std::printf("%s loss after one step %.2f\n", maml ? "MAML:" : "all sines at once:", after);
  }
}
