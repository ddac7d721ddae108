// Adam written out, and why its learning rate starts small.
//
//   m = b1 m + (1 - b1) g        mhat = m / (1 - b1^t)
//   v = b2 v + (1 - b2) g^2      vhat = v / (1 - b2^t)
//   w = w - lr(t) mhat / (sqrt(vhat) + eps)                 (Kingma & Ba 2015)

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [adam]
struct AdamByHand {
  optim::Schedule lr;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  int t = 0;
  Tensor m = tensor(0.0), v = tensor(0.0);

  /// What is taken from w for the gradient g.
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
  const optim::Schedule lr = optim::warmup_linear(0.1, 10);
  // [library]
  Tensor w = tensor({3.0, -1.0, 0.5}).requires_grad_();
  Tensor by_hand = w.detach().clone();
  optim::Adam opt({w}, {.lr = lr});
  AdamByHand hand{.lr = lr};
  for (int step = 0; step < 100; ++step) {
    by_hand = by_hand - hand.update(2 * (by_hand - 1));
    opt.zero_grad();
    (w - 1).square().sum().backward();  // its gradient is 2 (w - 1)
    opt.step();
  }
  // [/library]
  std::printf("After 100 steps on |w - 1|^2, by hand and by optim::Adam: %s\n",
              ((w.detach() - by_hand).abs() < 1e-12).all() ? "equal" : "different");
}

void first_step() {
  std::printf(
      "\nThe first step has the length lr in every weight, as long as the gradient is far above eps (lr = "
      "0.1):\n");
  // [first]
  for (const double g : {1e-8, 1e-4, 1.0, 1e4}) {
    AdamByHand adam{.lr = 0.1};
    std::printf("  gradient %8g  step %.4f\n", g, adam.update(tensor(g)).item());
  }
  // [/first]
}

void noise() {
  std::printf(
      "\nThat holds for gradients that are nothing but noise, too. Gradients N(0, 1) for 10000 weights;\n"
      "the root mean square of their steps, in units of the peak rate:\n\n"
      "    t   constant rate   formula   warm-up over 100 steps\n");
  // [noise]
  AdamByHand plain{.lr = 1.0}, warm{.lr = optim::warmup_linear(1.0, 100)};
  const double b1 = plain.b1, stays = std::sqrt((1 - b1) / (1 + b1));
  const auto formula = [&](int t) {
    return stays * std::sqrt((1 + std::pow(b1, t)) / (1 - std::pow(b1, t)));
  };
  for (int t = 1; t <= 1000; ++t) {
    const Tensor g = randn({10000});
    const double without = plain.update(g).square().mean().sqrt().item();
    const double with = warm.update(g).square().mean().sqrt().item();
    if (t == 1 || t == 3 || t == 10 || t == 30 || t == 100 || t == 300 || t == 1000)
      std::printf("%5d %15.3f %9.3f %24.3f\n", t, without, formula(t), with);
  }
  // [/noise]
  const auto within = [&](double share) {
    int t = 1;
    while (formula(t) > (1 + share) * stays) ++t;
    return t;
  };
  std::printf(
      "\nsqrt((1 - b1) / (1 + b1)) = %.3f stays for good. Steps come within 100%% of it at step %d, within "
      "10%%\n"
      "at step %d, within 5%% at step %d.\n",
      stays, within(1), within(0.1), within(0.05));
}

void schedules() {
  std::printf(
      "\nSchedules are functions of the step, which is 1 for the first update:\n\n"
      " step   warmup_linear   inverse_sqrt   warmup_cosine       noam\n");
  // [schedules]
  const auto linear = optim::warmup_linear(1e-3, 400);
  const auto root = optim::inverse_sqrt(1e-3, 400);
  const auto cosine = optim::warmup_cosine(1e-3, 400, 4000);
  const auto noam = optim::noam(512, 400);
  for (const int step : {1, 100, 200, 400, 1000, 2000, 4000})
    std::printf("%5d %15.2e %14.2e %15.2e %10.2e\n", step, linear(step), root(step), cosine(step),
                noam(step));
  // [/schedules]
  const auto by_its_peak = optim::inverse_sqrt(1 / std::sqrt(512.0 * 400), 400);
  // [t5]
  const optim::Schedule t5 = [](std::int64_t n) {
    return 1 / std::sqrt(std::max(static_cast<double>(n), 1e4));
  };
  // [/t5]
  double apart = 0;
  for (int step = 1; step <= 4000; ++step)
    apart = std::max(apart, std::abs(by_its_peak(step) / noam(step) - 1));
  std::printf("\nnoam(512, 400) and inverse_sqrt with noam's peak: %s\n",
              apart < 1e-12 ? "equal" : "different");
  std::printf("T5's at steps 1, 10000 and 40000: %.3f, %.3f, %.3f\n", t5(1), t5(10000), t5(40000));
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  against_the_library();
  first_step();
  noise();
  schedules();
}
