// 100 steps of every optimizer in f64, and clipping, against PyTorch's.

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "golden/golden.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/ema.h"
#include "gradus/optim/plateau.h"
#include "gradus/optim/radam.h"
#include "gradus/optim/rmsprop.h"
#include "gradus/optim/sgd.h"

namespace gradus::test {
namespace {

using Parameters = std::vector<Tensor>;
using Make = std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)>;

const std::vector<std::pair<const char*, Make>> kOptimizers = {
    {"sgd",
     [](const Parameters& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions{.lr = 0.05}); }},
    {"sgd_momentum",
     [](const Parameters& p) {
       return std::make_unique<optim::SGD>(
           p, optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1});
     }},
    {"sgd_dampening",
     [](const Parameters& p) {
       return std::make_unique<optim::SGD>(p,
                                           optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .dampening = 0.3});
     }},
    {"sgd_nesterov",
     [](const Parameters& p) {
       return std::make_unique<optim::SGD>(p,
                                           optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .nesterov = true});
     }},
    {"adam",
     [](const Parameters& p) { return std::make_unique<optim::Adam>(p, optim::AdamOptions{.lr = 0.02}); }},
    {"adam_decay",
     [](const Parameters& p) {
       return std::make_unique<optim::Adam>(
           p, optim::AdamOptions{.lr = 0.02, .betas = {0.8, 0.99}, .eps = 1e-6, .weight_decay = 0.1});
     }},
    {"adamw",
     [](const Parameters& p) {
       return std::make_unique<optim::AdamW>(
           p, optim::AdamWOptions{.lr = 0.02, .betas = {0.9, 0.95}, .weight_decay = 0.1});
     }},
    {"rmsprop",
     [](const Parameters& p) {
       return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions{.lr = 0.02});
     }},
    {"rmsprop_momentum",
     [](const Parameters& p) {
       return std::make_unique<optim::RMSprop>(
           p, optim::RMSpropOptions{
                  .lr = 0.005, .alpha = 0.9, .eps = 1e-6, .weight_decay = 0.1, .momentum = 0.8});
     }},
    {"rmsprop_centered",
     [](const Parameters& p) {
       return std::make_unique<optim::RMSprop>(
           p, optim::RMSpropOptions{.lr = 0.01, .alpha = 0.95, .momentum = 0.5, .centered = true});
     }},
    {"radam",
     [](const Parameters& p) { return std::make_unique<optim::RAdam>(p, optim::RAdamOptions{.lr = 0.02}); }},
    {"radam_decay",
     [](const Parameters& p) {
       return std::make_unique<optim::RAdam>(
           p, optim::RAdamOptions{.lr = 0.02, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1});
     }},
};

const std::vector<std::pair<const char*, optim::ReduceLROnPlateauOptions>> kPlateaus = {
    {"plateau/min", {.factor = 0.5, .patience = 2}},
    {"plateau/max",
     {.maximize = true,
      .factor = 0.3,
      .patience = 1,
      .threshold = 0.05,
      .absolute = true,
      .cooldown = 3,
      .min_lr = 1e-3}},
    {"plateau/rel", {.maximize = true, .factor = 0.7, .patience = 3, .threshold = 0.1, .eps = 1e-3}},
};

}  // namespace

TEST_CASE("PyTorch parity: 100 steps of every optimizer") {
  const StateDict file = golden("optim.safetensors");
  const Tensor grads = file.at("grads");
  for (const auto& entry :
       kOptimizers) {  // no structured binding: CAPTURE takes it into a lambda, clang 14 cannot
    const char* const name = entry.first;
    CAPTURE(name);
    Tensor p = file.at("start").clone();
    p.requires_grad_();
    const auto opt = entry.second({p});
    std::vector<Tensor> path;
    for (std::int64_t step = 0; step < grads.size(0); ++step) {
      p.set_grad(grads[step].clone());
      opt->step();
      path.push_back(p.detach().clone());
    }
    check_close(name, stack(path, 0), file.at(name));
  }
}

TEST_CASE("PyTorch parity: clip_grad_norm") {
  const StateDict file = golden("optim.safetensors");
  Parameters parameters;
  for (const char* key : {"clip/before0", "clip/before1"}) {
    Tensor p = zeros_like(file.at(key));
    p.requires_grad_();
    p.set_grad(file.at(key).clone());
    parameters.push_back(p);
  }
  const double norm = optim::clip_grad_norm(parameters, 1.5);
  CHECK(norm == doctest::Approx(file.at("clip/norm").item()).epsilon(1e-6));
  check_close("clip/after0", parameters[0].grad(), file.at("clip/after0"));
  check_close("clip/after1", parameters[1].grad(), file.at("clip/after1"));
}

TEST_CASE("PyTorch parity: clip_grad_value, NaN included") {
  const StateDict file = golden("optim.safetensors");
  const Tensor p = zeros_like(file.at("clip_value/before")).requires_grad_();
  p.set_grad(file.at("clip_value/before").clone());
  optim::clip_grad_value({p}, 0.7);
  CHECK(allclose(p.grad(), file.at("clip_value/after"), 0, 0, true));
}

TEST_CASE("PyTorch parity: 100 updates of an average of weights") {
  const StateDict file = golden("optim.safetensors");
  const Tensor path = file.at("adam"), p = zeros_like(path[0]).requires_grad_();
  optim::EMA ema({p}, 0.9);
  std::vector<Tensor> averages;
  for (std::int64_t step = 0; step < path.size(0); ++step) {
    {
      const NoGrad guard;
      p.copy_(path[step]);
    }
    ema.update();
    const optim::EMA::Use use(ema);
    averages.push_back(p.detach().clone());
  }
  check_close("ema", stack(averages, 0), file.at("ema"));
}

TEST_CASE("PyTorch parity: the rates of 100 epochs of ReduceLROnPlateau") {
  const StateDict file = golden("optim.safetensors");
  for (const auto& entry : kPlateaus) {
    const Tensor a = zeros({1}).requires_grad_(), b = zeros({1}).requires_grad_();
    optim::SGD opt({{.parameters = {a}}, {.parameters = {b}, .lr = 0.02}}, {.lr = 0.5});
    optim::ReduceLROnPlateau plateau(opt, entry.second);
    std::vector<double> rates;
    for (const double metric : file.at("plateau/metric").to_vector<double>()) {
      plateau.step(metric);
      rates.insert(rates.end(), {opt.lr(0), opt.lr(1)});
    }
    check_close(entry.first, from_vector(rates, {100, 2}), file.at(entry.first));
  }
}

}  // namespace gradus::test
