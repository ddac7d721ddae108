// What all optimizers share. Their numbers are compared with PyTorch's in tests/golden/optim_test.cpp.

#include "gradus/optim/optimizer.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/sgd.h"

namespace gradus::test {
namespace {

using optim::Adam;
using optim::AdamW;
using optim::SGD;

Tensor leaf(const Tensor& values) {
  Tensor x = values.clone();
  return x.requires_grad_();
}

/// Several steps on |w|^2 / 2, whose gradient is w.
void descend(optim::Optimizer& opt, const Tensor& w, int steps) {
  for (int i = 0; i < steps; ++i) {
    opt.zero_grad();
    (w.square().sum() * 0.5).backward();
    opt.step();
  }
}

const std::vector<std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>> kMakers = {
    [](auto p) { return std::make_unique<SGD>(p, optim::SGDOptions{.lr = 0.05, .momentum = 0.9}); },
    [](auto p) { return std::make_unique<Adam>(p, optim::AdamOptions{.lr = optim::warmup_linear(0.05, 4)}); },
    [](auto p) { return std::make_unique<AdamW>(p, optim::AdamWOptions{.lr = 0.05}); },
};

}  // namespace

TEST_CASE("optimizers: find the bottom of a bowl") {
  for (const auto& make : kMakers) {
    const Tensor w = leaf(tensor({1.0, -2.0, 0.5}));
    descend(*make({w}), w, 400);
    CHECK(w.array().to(f64).at({1}) == doctest::Approx(0).epsilon(1e-2));
    CHECK(w.norm().item() < 0.05);
  }
}

TEST_CASE("optimizers: SGD without momentum is w - lr g, decay is added to the gradient") {
  const Tensor w = leaf(tensor({2.0, -4.0}));
  SGD opt({w}, {.lr = 0.1, .weight_decay = 0.5});
  w.set_grad(tensor({1.0, 1.0}));
  opt.step();
  CHECK(w.span<float>()[0] == doctest::Approx(2 - 0.1 * (1 + 0.5 * 2)));
  CHECK(w.span<float>()[1] == doctest::Approx(-4 - 0.1 * (1 - 0.5 * 4)));
}

TEST_CASE("optimizers: Adam's first step is lr, whatever the gradient's size") {
  const Tensor w = leaf(zeros({3}, f64));
  Adam opt({w}, {.lr = 0.01});
  w.set_grad(tensor({1e-3, -5.0, 4e4}, f64));
  opt.step();
  CHECK(w.span<double>()[0] == doctest::Approx(-0.01).epsilon(1e-4));
  CHECK(w.span<double>()[1] == doctest::Approx(0.01).epsilon(1e-4));
  CHECK(w.span<double>()[2] == doctest::Approx(-0.01).epsilon(1e-4));
}

TEST_CASE("optimizers: state saved and restored goes on bit by bit") {
  for (const auto& make : kMakers) {
    const Tensor unbroken = leaf(tensor({1.0, -2.0, 0.5}));
    const auto opt = make({unbroken});
    descend(*opt, unbroken, 7);
    const StateDict state = opt->state_dict();
    const Tensor resumed = leaf(unbroken.detach());
    descend(*opt, unbroken, 9);

    const auto other = make({resumed});
    other->load_state_dict(state);
    CHECK(other->steps() == 7);
    descend(*other, resumed, 9);
    CHECK(resumed.to_vector<float>() == unbroken.to_vector<float>());
  }
}

TEST_CASE("optimizers: a state that does not fit changes nothing") {
  const Tensor w = leaf(ones({2})), other = leaf(ones({3}));
  Adam opt({w}), three({other});
  descend(opt, w, 1);
  descend(three, other, 2);
  check_error([&] { opt.load_state_dict(three.state_dict()); },
              "Adam: state 0.exp_avg is f32 [3], expects f32 [2]");
  CHECK(opt.steps() == 1);
  check_error([&] { opt.load_state_dict({}); }, "StateDict: no entry 'steps': it holds nothing");
  StateDict more = opt.state_dict();
  more.set("extra", w.detach());
  check_error([&] { opt.load_state_dict(more); },
              "Adam: the state has 5 entries, expects 4: it belongs to another optimizer");
}

TEST_CASE("optimizers: groups have rates and decay of their own") {
  const Tensor a = leaf(ones({1}, f64)), b = leaf(ones({1}, f64));
  SGD opt({{.parameters = {a}}, {.parameters = {b}, .lr = 0.5, .weight_decay = 0.0}},
          {.lr = 0.1, .weight_decay = 1});
  a.set_grad(zeros({1}, f64));
  b.set_grad(ones({1}, f64));
  CHECK(opt.lr(0) == 0.1);
  CHECK(opt.lr(1) == 0.5);
  opt.step();
  CHECK(a.item() == doctest::Approx(0.9));  // decay only
  CHECK(b.item() == doctest::Approx(0.5));  // gradient only
}

TEST_CASE("optimizers: a schedule is asked for the step to come, from 1") {
  const Tensor w = leaf(ones({1}));
  std::vector<std::int64_t> asked;
  SGD opt({w}, {.lr = [&](std::int64_t step) {
            asked.push_back(step);
            return 0.1;
          }});
  for (int i = 0; i < 3; ++i) {
    w.set_grad(ones({1}));
    opt.step();
  }
  CHECK(asked == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("optimizers: parameters without a gradient and frozen ones stay as they are") {
  Tensor idle = leaf(ones({2})), frozen = leaf(ones({2})), active = leaf(ones({2}));
  Adam opt({idle, frozen, active}, {.lr = 0.1});
  frozen.set_grad(ones({2}));
  frozen.requires_grad_(false);
  active.set_grad(ones({2}));
  opt.step();
  CHECK(idle.span<float>()[0] == 1);
  CHECK(frozen.span<float>()[0] == 1);
  CHECK(active.span<float>()[0] < 1);
}

TEST_CASE("optimizers: zero_grad drops the gradients") {
  const Tensor w = leaf(ones({2}));
  SGD opt({w});
  w.set_grad(ones({2}));
  opt.zero_grad();
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("optimizers: an update between forward and backward is noticed") {
  const Tensor w = leaf(ones({2}));
  SGD opt({w}, {.lr = 0.1});
  const Tensor loss = (w * w).sum();
  w.set_grad(ones({2}));
  opt.step();
  CHECK_THROWS_WITH_AS(
      loss.backward(),
      "mul backward: the f32 [2] it saved was changed in place after the forward pass: change it "
      "before the forward pass or after backward, or work on a clone()",
      Error);
}

TEST_CASE("optimizers: a module that was never added is noticed") {
  struct Net : nn::Module {
    nn::Linear first = add("first", nn::Linear(2, 3));
    nn::Linear second = nn::Linear(3, 1);  // the bug
    Tensor operator()(const Tensor& x) const { return second(relu(first(x))); }
  };
  const Net net;
  Adam opt(net.parameters());
  net(randn({4, 2})).sum().backward();
  check_error([&] { opt.step(); },
              "Adam: Linear.weight [1, 3] received a gradient but belongs to no module of the model: its "
              "module was never "
              "added. Declare it as `nn::Linear fc = add(\"fc\", nn::Linear(...));`");
}

TEST_CASE("optimizers: errors") {
  const Tensor w = leaf(ones({2}));
  check_error([] { Adam(std::vector<Tensor>{}); }, "Adam: got no parameters: pass model.parameters()");
  check_error([] { Adam({ones({2})}); }, "Adam: parameter 0 [2] is not a leaf that requires grad");
  check_error([&] { SGD({w, w}); }, "SGD: parameter 1 [2] is given twice");
  check_error([&] { Adam({w}, {.betas = {0.9, 1.0}}); }, "Adam: expects betas in [0, 1), got 0.9 and 1");
  check_error([&] { AdamW({w}, {.eps = -1}); }, "AdamW: expects an eps of 0 or more, got -1");
  check_error([&] { AdamW({w}, {.weight_decay = -0.1}); },
              "AdamW: expects a weight_decay of 0 or more, got -0.1");
  check_error([&] { SGD({w}, {.momentum = -1}); }, "SGD: expects a momentum of 0 or more, got -1");
  check_error([&] { SGD({w}, {.nesterov = true}); },
              "SGD: Nesterov needs a momentum above 0 and no dampening, got momentum 0 and dampening 0");
  check_error([&] { SGD({w}).lr(1); }, "SGD: group 1 does not exist: there are 1");
  const auto broken = [&] {
    SGD opt({w}, {.lr = [](std::int64_t) { return NAN; }});
    w.set_grad(ones({2}));
    opt.step();
  };
  check_error(broken, "SGD: the schedule gave a rate of nan at step 1");
  check_error([&] { optim::clip_grad_norm({w}, 0); }, "clip_grad_norm: expects a max_norm above 0, got 0");
}

TEST_CASE("clip_grad_norm: leaves small gradients alone, reports those that are not finite") {
  const Tensor w = leaf(zeros({2}));
  CHECK(optim::clip_grad_norm({w}, 1) == 0);
  w.set_grad(tensor({0.3, 0.4}));
  CHECK(optim::clip_grad_norm({w}, 1) == doctest::Approx(0.5));
  CHECK(w.grad().to_vector<float>()[0] == 0.3f);
  w.set_grad(tensor({3.0, 4.0}));
  CHECK(optim::clip_grad_norm({w}, 1) == doctest::Approx(5));
  CHECK(optim::grad_norm({w}) == doctest::Approx(1));
  w.set_grad(tensor({3.0, INFINITY}));
  CHECK(std::isinf(optim::clip_grad_norm({w}, 1)));
  CHECK(w.grad().to_vector<float>()[0] == 3.0f);
}

}  // namespace gradus::test
