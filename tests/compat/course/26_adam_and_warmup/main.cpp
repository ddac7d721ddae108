// Adam written out, its first steps, and a warm-up for Adam and SGD on both placements.
// Its chapter: docs/course/26_adam_and_warmup/README.md

#include <cmath>
#include <cstdio>
#include <utility>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [adam]
struct AdamByHand {
  optim::Schedule lr;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  int t = 0;
  Tensor m = tensor(0.0), v = tensor(0.0);
  /// The amount to subtract from w for the gradient g.
  Tensor update(const Tensor& g) {
    ++t;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g.square();
    const Tensor mhat = m / (1 - std::pow(b1, t)), vhat = v / (1 - std::pow(b2, t));
    return lr(t) * mhat / (vhat.sqrt() + eps);
  }
};
// [/adam]

void against_the_library() {
  Tensor w = tensor({3.0, -1.0, 0.5}).requires_grad_(), by_hand = w.detach().clone();
  optim::Adam opt({w}, {.lr = 0.1});
  AdamByHand hand{.lr = 0.1};
  for (int step = 0; step < 100; ++step) {
    by_hand = by_hand - hand.update(2 * (by_hand - 1));
    opt.zero_grad();
    (w - 1).square().sum().backward();  // its gradient is 2 (w - 1)
    opt.step();
  }
  std::printf("After 100 steps on |w - 1|^2, by hand and by optim::Adam: %s\n",
              ((w.detach() - by_hand).abs() < 1e-12).all() ? "equal" : "different");
}

void first_step() {
  std::printf("\nThe first step for a gradient g (lr = 0.1):\n");
  for (const double g : {1e-8, 1e-4, 1.0, 1e4})
    std::printf("  g = %-8g  step %.4f\n", g, AdamByHand{.lr = 0.1}.update(tensor(g)).item());
}

void noise() {
  std::printf(
      "\nGradients that are pure noise, N(0, 1): the root mean square of 10000 steps, rate 1:\n\n"
      "    t   constant rate   formula   warm-up over 100 steps\n");
  // [noise]
  AdamByHand plain{.lr = 1.0}, warm{.lr = optim::warmup_linear(1.0, 100)};
  const double b1 = plain.b1, stays = std::sqrt((1 - b1) / (1 + b1));
  for (int t = 1; t <= 300; ++t) {
    const Tensor g = randn({10000});
    const double without = plain.update(g).square().mean().sqrt().item();
    const double with = warm.update(g).square().mean().sqrt().item();
    const double formula = stays * std::sqrt((1 + std::pow(b1, t)) / (1 - std::pow(b1, t)));
    if (t == 1 || t == 3 || t == 10 || t == 30 || t == 100 || t == 300)
      std::printf("%5d %15.3f %9.3f %24.3f\n", t, without, formula, with);
  }
  // [/noise]
}

// [train]
/// Whether a GPT of 6 blocks is below guessing after step 150. It learns to repeat 6 random tokens of 8;
/// guessing has the loss ln 8 = 2.08, and a mean of 50 steps below 2.05 counts as below guessing.
bool learns(const nn::Placement& placement, bool adam, const optim::Schedule& lr, std::uint64_t seed) {
  manual_seed(seed);
  const nn::GPT gpt({.vocab = 8,
                     .context = 12,
                     .layers = 6,
                     .placement = placement,
                     .block = {.d_model = 16, .heads = 2, .d_ff = 32}});
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  optim::Adam by_adam(gpt.parameters(), {.lr = lr});
  optim::SGD by_sgd(gpt.parameters(), {.lr = lr});
  double sum = 0;
  for (int step = 1; step <= 300; ++step) {
    const Tensor word = randint(0, 8, {12, 6}), text = cat({word, word}, 1);
    const Tensor logits = gpt(text.slice(1, 0, 11)).slice(1, 5, 11);
    const Tensor loss = cross_entropy(logits.reshape({-1, 8}), word.flatten());
    gpt.zero_grad();
    loss.backward();
    adam ? by_adam.step() : by_sgd.step();
    sum += loss.item();
    if (step % 50 == 0 && std::exchange(sum, 0) / 50 < 2.05 && step > 150) return true;
  }
  return false;
}
// [/train]

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  against_the_library();
  first_step();
  noise();
  std::printf(
      "\nSeeds of five on which a GPT is below guessing in some 50 steps of 151 to 300:\n\n"
      "                        constant rate   warm-up over 150 steps\n");
  for (const auto& [adam, rate] : {std::pair{true, 0.003}, {true, 0.015}, {false, 0.8}})
    for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
      int constant = 0, warm = 0;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        constant += learns(placement, adam, rate, seed);
        warm += learns(placement, adam, optim::warmup_linear(rate, 150), seed);
      }
      std::printf("%-4s %5.3f   %-8s %14d %24d\n", adam ? "Adam" : "SGD", rate, placement.name.c_str(),
                  constant, warm);
    }
}
