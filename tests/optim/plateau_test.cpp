// Rates that are reduced when a loss has stopped decreasing; tests/golden/optim_test.cpp has more of
// PyTorch's values.

#include "gradus/optim/plateau.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/sgd.h"

namespace gradus::test {

TEST_CASE("ReduceLROnPlateau: more than `patience` calls without an improvement, NaN is none") {
  const Tensor w = ones({1}).requires_grad_();
  optim::SGD opt({w}, {.lr = 1});
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 1});
  CHECK_FALSE(plateau.step(3));
  CHECK_FALSE(plateau.step(3));  // the first
  CHECK(plateau.step(NAN));      // the second
  CHECK(opt.lr() == 0.5);
  CHECK_FALSE(plateau.step(2));
  CHECK_FALSE(plateau.step(2));
  CHECK_FALSE(plateau.step(1));
  CHECK(opt.lr() == 0.5);
}

TEST_CASE("ReduceLROnPlateau: schedules are scaled as functions, groups added later are seen") {
  const Tensor a = ones({1}).requires_grad_(), b = ones({1}).requires_grad_();
  optim::SGD opt({a}, {.lr = optim::warmup_linear(1, 4)});
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 0, .min_lr = 0.3});
  opt.add_group({.parameters = {b}, .lr = 0.8});
  plateau.step(1);
  CHECK(plateau.step(1));
  CHECK(opt.lr(0) == 0.25);  // warm-up at its first step, below min_lr: not reduced
  CHECK(opt.lr(1) == 0.4);
  for (int i = 0; i < 4; ++i) {
    a.set_grad(zeros({1}));
    opt.step();
  }
  CHECK(opt.lr(0) == 1);
  CHECK(plateau.step(1));
  CHECK(opt.lr(0) == 0.5);
  CHECK(opt.schedule(0)(2) == 0.3);
  CHECK(opt.schedule(0)(1) == 0.25);
  CHECK(opt.lr(1) == 0.3);
}

TEST_CASE("ReduceLROnPlateau: after set_lr the next reduction starts from the new rate, as in PyTorch") {
  // torch: opt = SGD([w], lr=1); p = ReduceLROnPlateau(opt, factor=0.5, patience=0, min_lr=0.03)
  // p.step(1), group["lr"] = 0.1, p.step(2), p.step(3), p.step(4), group["lr"] = 0.7, p.step(5); the rates:
  const std::vector<double> rates = {1, 0.05, 0.03, 0.03, 0.35};
  const Tensor w = ones({1}).requires_grad_();
  optim::SGD opt({w}, {.lr = 1});
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 0, .min_lr = 0.03});
  for (int i = 0; i < 5; ++i) {
    if (i == 1) opt.set_lr(0.1);
    if (i == 4) opt.set_lr(0.7);
    const double before = opt.lr();
    CHECK(plateau.step(i + 1) == (rates[static_cast<std::size_t>(i)] < before));
    CHECK(opt.lr() == rates[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("ReduceLROnPlateau: the same for a schedule, of one group or replacing a number") {
  const Tensor a = ones({1}).requires_grad_(), b = ones({1}).requires_grad_();
  optim::SGD opt({{.parameters = {a}}, {.parameters = {b}}}, {.lr = [](std::int64_t) { return 1.0; }});
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 0});
  plateau.step(1);
  CHECK(plateau.step(2));
  opt.set_lr([](std::int64_t step) { return 0.1 * static_cast<double>(step); }, 1);
  CHECK(plateau.step(3));
  CHECK(opt.lr(0) == 0.25);
  CHECK(opt.lr(1) == 0.05);
  CHECK(opt.schedule(1)(4) == 0.2);
  opt.set_lr(0.3, 0);
  CHECK(plateau.step(4));
  CHECK(opt.lr(0) == 0.15);
  CHECK(opt.lr(1) == 0.025);
}

TEST_CASE("ReduceLROnPlateau: a saved and restored state continues bit for bit") {
  const Tensor w = ones({1}).requires_grad_(), v = ones({1}).requires_grad_();
  optim::SGD opt({w}, {.lr = 0.1}), other({v}, {.lr = 0.1});
  const optim::ReduceLROnPlateauOptions options = {.factor = 0.3, .patience = 2, .cooldown = 2};
  optim::ReduceLROnPlateau plateau(opt, options), again(other, options);
  const auto metric = [](int epoch) { return std::cos(epoch * 0.9) + 1.5; };
  for (int epoch = 0; epoch < 11; ++epoch) plateau.step(metric(epoch));
  CHECK(opt.lr() < 0.1);
  again.load_state_dict(plateau.state_dict());
  CHECK(other.lr() == opt.lr());
  for (int epoch = 11; epoch < 30; ++epoch) {
    CHECK(plateau.step(metric(epoch)) == again.step(metric(epoch)));
    CHECK(other.lr() == opt.lr());
  }
}

TEST_CASE("ReduceLROnPlateau: a state restores rates set in between, and scales schedules") {
  const auto make = [](const Tensor& a, const Tensor& b) {
    return std::make_unique<optim::SGD>(
        std::vector<optim::ParameterGroup>{{.parameters = {a}, .lr = 1},
                                           {.parameters = {b}, .lr = optim::warmup_linear(0.5, 0)}},
        optim::SGDOptions());
  };
  const Tensor a = ones({1}).requires_grad_(), b = ones({1}).requires_grad_();
  const auto opt = make(a, b), other = make(a, b);
  optim::ReduceLROnPlateau plateau(*opt, {.factor = 0.5, .patience = 0}),
      again(*other, {.factor = 0.5, .patience = 0});
  const StateDict first = plateau.state_dict();
  plateau.step(1);
  opt->set_lr(0.1, 0);
  plateau.step(2);
  for (int i = 0; i < 2; ++i) {  // loaded twice it is not scaled twice
    again.load_state_dict(plateau.state_dict());
    CHECK(other->lr(0) == 0.05);
    CHECK(other->lr(1) == 0.25);
  }
  CHECK(again.step(3));
  CHECK(plateau.step(3));
  CHECK(other->lr(0) == opt->lr(0));
  CHECK(other->lr(1) == opt->lr(1));
  again.load_state_dict(first);
  CHECK(other->lr(0) == 1);
  CHECK(other->lr(1) == 0.5);
}

TEST_CASE("ReduceLROnPlateau: errors") {
  const Tensor w = ones({1}).requires_grad_();
  optim::SGD opt({w}, {.lr = 0.1});
  check_error([&] { optim::ReduceLROnPlateau(opt, {.factor = 1}); },
              "ReduceLROnPlateau: expects a factor in [0, 1), got 1");
  check_error([&] { optim::ReduceLROnPlateau(opt, {.patience = -1}); },
              "ReduceLROnPlateau: expects patience and cooldown of 0 or more, got -1 and 0");
  check_error([&] { optim::ReduceLROnPlateau(opt, {.min_lr = -1}); },
              "ReduceLROnPlateau: expects threshold, min_lr and eps of 0 or more, got 0.0001, -1 and 1e-08");
  optim::ReduceLROnPlateau plateau(opt);
  StateDict state = plateau.state_dict();
  state.set("0.scale", tensor(2.0, f64));
  check_error([&] { plateau.load_state_dict(state); },
              "ReduceLROnPlateau: expects scales from 0 to 1 in the state, got 2");
  state.set("0.scale", tensor(-0.5, f64));
  check_error([&] { plateau.load_state_dict(state); },
              "ReduceLROnPlateau: expects scales from 0 to 1 in the state, got -0.5");
  state.set("0.scale", tensor(0.0, f64));  // after a reduction by a factor of 0
  plateau.load_state_dict(state);
  state.set("0.scale", tensor(1));
  check_error([&] { plateau.load_state_dict(state); },
              "ReduceLROnPlateau: expects one f64 0.scale in the state: it belongs to something else");
  state = plateau.state_dict();
  state.set("0.lr", tensor(-1.0, f64));
  check_error([&] { plateau.load_state_dict(state); },
              "ReduceLROnPlateau: expects rates of 0 or more in the state, got -1");
  state = plateau.state_dict();
  state.set("1.scale", tensor(1.0, f64));
  check_error([&] { plateau.load_state_dict(state); },
              "ReduceLROnPlateau: the state has 6 entries, expects 5: the optimizer has 1 groups");
  check_error([&] { plateau.load_state_dict(opt.state_dict()); },
              "ReduceLROnPlateau: expects one f64 best in the state: it belongs to something else");
}

}  // namespace gradus::test
