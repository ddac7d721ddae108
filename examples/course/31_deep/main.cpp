// A warm-up for 48 layers and beyond, designed before the training; schedules.
// Its chapter: docs/course/31_deep/README.md

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr double kPeak = 1e-3,
                 kBudget = 0.1;  // the desired rate, and how far the first step may move the logits

double rms(const Tensor& x) { return x.square().mean().sqrt().item(); }

/// Matrices N(0, 1/fan_in), the same for all; then the placement's own initialization (chapter 28).
nn::GPT model(const nn::Placement& placement, std::int64_t layers) {
  const nn::BlockOptions block = {.d_model = 32, .heads = 4, .layers = layers};
  nn::GPT gpt({.vocab = 8, .context = 12, .layers = layers, .placement = placement, .block = block});
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  if (placement.init) placement.init(gpt.transformer, block);
  return gpt;
}

// [steps]
/// How far each of the first `count` updates moves the logits of its batch.
std::vector<double> moves(const nn::GPT& gpt, const optim::Schedule& lr, int count) {
  optim::Adam adam(gpt.parameters(), {.lr = lr});
  std::vector<double> moved;
  for (int step = 0; step < count; ++step) {
    const Tensor ids = randint(0, 8, {4, 12}), targets = randint(0, 8, {4, 12});
    const Tensor before = gpt(ids).detach();
    gpt.zero_grad();
    gpt.loss(ids, targets).backward();
    adam.step();
    moved.push_back(rms(gpt(ids).detach() - before));
  }
  return moved;
}
// [/steps]

// [design]
/// The steps of a linear warm-up to kPeak whose first step moves the logits by kBudget: the median of five
/// seeds.
std::int64_t designed(const nn::Placement& placement, std::int64_t layers) {
  std::vector<double> steps;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    manual_seed(seed);
    const double tiny = 1e-6, sensitivity = moves(model(placement, layers), tiny, 1)[0] / tiny;
    steps.push_back(kPeak * sensitivity / kBudget);
  }
  std::sort(steps.begin(), steps.end());
  return static_cast<std::int64_t>(std::ceil(steps[2]));
}
// [/design]

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
  std::printf(
      "Steps of a warm-up to 0.001 whose first step moves the logits by 0.1, median of 5 seeds:\n\n"
      "           12 blocks   48 blocks   96 blocks\n");
  const nn::Placement all[] = {nn::pre_ln(), nn::post_ln(), nn::deep_norm()};
  for (const nn::Placement& placement : all) {
    std::printf("%-9s", placement.name.c_str());
    for (const std::int64_t layers : {12, 48, 96})
      std::printf(" %11d", static_cast<int>(designed(placement, layers)));
    std::printf("\n");
  }
  std::printf("\nHow far the logits of 48 blocks move in steps 1, 2 and 3, one seed:\n\n");
  for (const nn::Placement& placement : all)
    for (const std::int64_t warmup : {std::int64_t{1}, designed(placement, 48)}) {
      manual_seed(7);
      const auto m = moves(model(placement, 48), optim::warmup_linear(kPeak, warmup), 3);
      std::printf("%-9s warm-up over %3d   %.1f   %.1f   %.1f\n", placement.name.c_str(),
                  static_cast<int>(warmup), m[0], m[1], m[2]);
    }
  schedules();
}
