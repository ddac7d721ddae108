// Without memory for it, nothing that changes several tensors changes some of them.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "failing_new.h"
#include "gradus/core/io/state_dict.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/ema.h"
#include "gradus/optim/radam.h"
#include "gradus/optim/rmsprop.h"
#include "gradus/optim/sgd.h"

namespace gradus::test {
namespace {

using optim::Optimizer;

/// Two parameters with gradients, of which the second is not contiguous.
std::vector<Tensor> two_parameters() {
  const Tensor a = ones({3, 4}).requires_grad_(), b = full({4, 3}, 2.0).requires_grad_();
  a.set_grad(full({3, 4}, 0.5));
  b.set_grad(full({3, 4}, 0.25).transpose(0, 1));
  return {a, b};
}

bool same(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, values] : a)
    if (!b.contains(name) || !equal(values.detach(), b.at(name).detach())) return false;
  return true;
}

}  // namespace

TEST_CASE("out of memory: an optimizer's step changes all parameters and their states or none") {
  const SingleThread alone;
  using Make = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;
  const std::vector<Make> all = {
      [](const auto& p) {
        return std::make_unique<optim::SGD>(p, optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
      },
      [](const auto& p) { return std::make_unique<optim::Adam>(p, optim::AdamOptions{.lr = 0.1}); },
      [](const auto& p) { return std::make_unique<optim::AdamW>(p, optim::AdamWOptions{.lr = 0.1}); },
      [](const auto& p) { return std::make_unique<optim::RAdam>(p, optim::RAdamOptions{.lr = 0.1}); },
      [](const auto& p) { return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions{.lr = 0.1}); },
  };
  for (const Make& make : all)
    for (const int steps : {0, 1}) {
      CAPTURE(steps);
      const std::vector<Tensor> parameters = two_parameters();
      const auto optimizer = make(parameters);
      for (int i = 0; i < steps; ++i) optimizer->step();
      const StateDict state = optimizer->state_dict();
      const Tensor a = parameters[0].detach().clone(), b = parameters[1].detach().clone();
      const auto prepare = [&] {
        const NoGrad guard;
        parameters[0].copy_(a);
        parameters[1].copy_(b);
        optimizer->load_state_dict(state);
      };
      CHECK(all_or_nothing(
                prepare, [&] { optimizer->step(); },
                [&] {
                  must(equal(parameters[0].detach(), a) && equal(parameters[1].detach(), b));
                  must(same(optimizer->state_dict(), state));
                }) > 3);
      CHECK(!equal(parameters[1].detach(), b));
      optimizer->step();
      const StateDict later = optimizer->state_dict();
      CHECK(all_or_nothing(
                prepare, [&] { optimizer->load_state_dict(later); },
                [&] { must(same(optimizer->state_dict(), state)); }) > 3);
    }
}

TEST_CASE("out of memory: an EMA takes in all parameters or none, and loads a whole state or none") {
  const SingleThread alone;
  const std::vector<Tensor> parameters = two_parameters();
  optim::EMA ema(parameters, 0.5);
  ema.update();
  const StateDict state = ema.state_dict();
  {
    const NoGrad guard;
    for (const Tensor& w : parameters) w.fill_(7);
  }
  const auto prepare = [&] { ema.load_state_dict(state); };
  const auto unchanged = [&] { must(same(ema.state_dict(), state)); };
  all_or_nothing(
      prepare, [&] { ema.update(); }, unchanged);
  const StateDict later = ema.state_dict();
  CHECK(!same(later, state));
  CHECK(all_or_nothing(
            prepare, [&] { ema.load_state_dict(later); }, unchanged) > 1);
}

}  // namespace gradus::test
