#include "browser/figures/adam.h"

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

constexpr std::int64_t kSteps = 40, kSpike = 10;

/// Gradients of size 1.
double gradient_at(const std::string& stream, std::int64_t step, Generator& generator) {
  if (stream == "constant") return 1;
  if (stream == "alternating") return step % 2 ? 1 : -1;
  if (stream == "noise") return randn({}, generator).item();
  if (stream == "drift") return 0.2 + randn({}, generator).item();
  if (stream == "spike") return step == kSpike ? 50 : 1;
  fail_with("adam: there is no stream of gradients called {}", stream);
}

void check_settings(const AdamSettings& settings) {
  check(settings.size > 0 && settings.size <= 1e6, "adam: size expects a number above 0, at most 1e6, got {}",
        settings.size);
  check(settings.rate > 0 && settings.rate <= 1, "adam: rate expects a number above 0, at most 1, got {}",
        settings.rate);
  check(settings.warmup >= 0 && settings.warmup <= 1000,
        "adam: warm-up expects a whole number from 0 to 1000, got {}", settings.warmup);
  check(settings.seed >= 0 && settings.seed <= 999, "adam: seed expects a whole number from 0 to 999, got {}",
        settings.seed);
}

void step(optim::Optimizer& optimizer, const Tensor& w, double gradient, double rate, Path& path) {
  const double before = w.item();
  w.set_grad(tensor(gradient));
  optimizer.step();
  path.weight.push_back(w.item());
  path.taken.push_back((before - w.item()) / rate);
}

}  // namespace

std::vector<GradientStream> gradient_streams() {
  return {{"constant", "constant: 1, 1, 1, ..."},
          {"noise", "noise around 0"},
          {"drift", "noise around 0.2"},
          {"alternating", "alternating: 1, −1, 1, ..."},
          {"spike", "constant, with one spike of 50"}};
}

FirstSteps first_steps(const AdamSettings& settings) {
  check_settings(settings);
  const DefaultDType doubles(f64);
  Generator generator(static_cast<std::uint64_t>(settings.seed));
  const optim::Schedule rate = optim::warmup_linear(settings.rate, settings.warmup);
  const Tensor by_adam = tensor(0.0).requires_grad_(), by_sgd = tensor(0.0).requires_grad_();
  optim::Adam adam({by_adam}, {.lr = rate, .betas = {settings.beta1, settings.beta2}, .eps = settings.eps});
  optim::SGD sgd({by_sgd}, {.lr = rate});
  FirstSteps result;
  for (std::int64_t t = 1; t <= kSteps; ++t) {
    const double gradient = settings.size * gradient_at(settings.stream, t, generator);
    result.gradients.push_back(gradient);
    result.rates.push_back(rate(t));
    step(adam, by_adam, gradient, settings.rate, result.adam);
    step(sgd, by_sgd, gradient, settings.rate, result.sgd);
    const StateDict state = adam.state_dict();
    const auto power = static_cast<double>(t);
    result.mean.push_back(state.at("0.exp_avg").item() / (1 - std::pow(settings.beta1, power)));
    result.root.push_back(std::sqrt(state.at("0.exp_avg_sq").item() / (1 - std::pow(settings.beta2, power))));
  }
  return result;
}

}  // namespace gradus::browser
