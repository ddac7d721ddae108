// Recurrent networks: recall the first value of a sequence after reading all of it.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

template <class Cell>
struct Reader : nn::Module {
  Cell cell = add("cell", Cell({.input_size = 1, .hidden_size = 16}));
  nn::Linear head = add("head", nn::Linear(16, 1));
  Tensor operator()(const Tensor& x) const { return head(cell(x).y.select(1, -1)); }  // [B, T, 1] -> [B, 1]
};

template <class Cell>
double error_after_training() {
  manual_seed(0);
  const Reader<Cell> reader;
  optim::RMSprop opt(reader.parameters(), {.lr = 5e-3});
  double error = 0;
  for (int step = 0; step < 400; ++step) {
    const Tensor x = rand({32, 10, 1}) * 2 - 1;
    const Tensor loss = mse_loss(reader(x), x.select(1, 0));
    opt.zero_grad();
    loss.backward();
    optim::clip_grad_norm(reader.parameters(), 1.0);
    opt.step();
    error = loss.item();
  }
  return error;
}

int main() {
  std::printf("squared error of a guess: 0.33\n");
  std::printf("GRU  %.2f\n", error_after_training<nn::GRU>());
  std::printf("LSTM %.2f\n", error_after_training<nn::LSTM>());
}
