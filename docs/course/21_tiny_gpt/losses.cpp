// Prints losses.csv, which figure.svg shows: the training of chapter 21's
// program with its three seeds, with the losses on a thousand new lines every ten steps. About a minute.
//   cmake --build build/release --target tiny_gpt_losses && build/release/tiny_gpt_losses >
//   docs/course/21_tiny_gpt/losses.csv

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// As in examples/course/21_tiny_gpt/main.cpp.
Tensor copies(std::int64_t B) {
  const Tensor things = randint(4, 20, {B, 8});
  return cat({full({B, 1}, 20), things, things}, 1);
}

Tensor recalls(std::int64_t B) {
  const Tensor boxes = randint(0, 4, {B, 8}), inside = 4 + 4 * arange(4) + randint(0, 4, {B, 4});
  return cat({full({B, 1}, 21), stack({boxes, gather(inside, 1, boxes)}, 2).reshape({B, 16})}, 1);
}

Tensor loss(const nn::GPT& gpt, const Tensor& ids, std::int64_t from, std::int64_t step) {
  const Tensor next = full({ids.size(0), 16}, -100);
  next.slice(1, from, 16, step) = ids.slice(1, from + 1, 17, step);
  return gpt.loss(ids.slice(1, 0, 16), next);
}

/// Draws nothing random between the steps, so that the training is the program's.
void train(std::uint64_t seed, const Tensor& new_copies, const Tensor& new_recalls) {
  manual_seed(seed);
  const nn::GPT gpt({.vocab = 22, .context = 17, .layers = 2, .block = {.d_model = 32, .heads = 4}});
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  optim::Adam opt(gpt.parameters(), {.lr = optim::warmup_cosine(0.005, 50, 500)});
  for (int step = 0; step <= 500; ++step) {
    if (step % 10 == 0) {
      const NoGrad guard;
      std::printf("%d,%d,%.3f,%.3f\n", int(seed), step, loss(gpt, new_copies, 8, 1).item(),
                  loss(gpt, new_recalls, 1, 2).item());
    }
    opt.zero_grad();
    (loss(gpt, copies(16), 8, 1) + loss(gpt, recalls(16), 0, 1)).backward();
    opt.step();
  }
}

}  // namespace

int main() {
  const DefaultDType dtype(f64);
  manual_seed(100);
  const Tensor new_copies = copies(1000), new_recalls = recalls(1000);
  std::printf("seed,step,copy,recall\n");
  for (const std::uint64_t seed : {0U, 1U, 2U}) train(seed, new_copies, new_recalls);
}
